/* SPDX-License-Identifier: MIT */
/* link: cudart13 dl */
/*
 * Does the same work again and again in child processes. In each child, another one of the
 * recorder's calls fails (preload_faults.c), until each call has failed once. Each child must see
 * and return the same as a child without faults:
 *
 *     fault_loop memory|files|threads|sqlite one|rest start|later STEP FIRST
 *
 * With "one", only the Nth call fails; with "rest", also all calls after it. With "later", only the
 * calls after the start of the recording are counted; with "start", all calls. N is FIRST, FIRST +
 * STEP and so on. Prints the results of the first child, then the number and pid of each child. The
 * stderr of each child goes to the file said.PID.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "child.h"
#include "faults.h"
#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"
#include "gpumemtrace/gpumemtrace.h"

#define MIB ((size_t)1 << 20)
#define TEXT_BYTES 4096
#define AT_ONCE 8

/* Results of a child, in memory shared with its parent. */
struct seen {
    char text[TEXT_BYTES];
    size_t length;
    _Atomic long failed;
};

static struct seen *now;

static enum fault_group group;
static bool and_the_rest, later;
static faults_plan_function *plan;

static void note(const char *format, ...) GMT_PRINTF(1, 2);

static void note(const char *format, ...)
{
    const int error = errno;
    va_list arguments;
    va_start(arguments, format);
    now->length +=
        (size_t)vsnprintf(now->text + now->length, TEXT_BYTES - now->length, format, arguments);
    now->length +=
        (size_t)snprintf(now->text + now->length, TEXT_BYTES - now->length, " (errno %d)\n", error);
    va_end(arguments);
    errno = 77;
}

/* --- the work --- */

static void *take(size_t bytes)
{
    void *block = NULL;
    const int result = (int)cudaMalloc(&block, bytes);
    note("malloc %zu: %d %s", bytes, result, block ? "block" : "nothing");
    return block;
}

static void give(void *block)
{
    note("free: %d", (int)cudaFree(block));
}

static void *work_in_thread(void *unused)
{
    (void)unused;
    errno = 77;
    for (int i = 0; i < 3; i++)
        give(take(4096));
    return NULL;
}

static void other_kinds(void)
{
    void *pinned = NULL, *ordered = NULL;
    note("pinned: %d", (int)cudaMallocHost(&pinned, MIB));
    note("unpinned: %d", (int)cudaFreeHost(pinned));
    note("in a stream: %d", (int)cudaMallocAsync(&ordered, MIB, NULL));
    note("freed there: %d", (int)cudaFreeAsync(ordered, NULL));
}

static void work(long nth)
{
    pthread_t thread;
    errno = 77;
    gpumemtrace_push("work");
    if (plan && !later)
        plan(group, nth, and_the_rest, &now->failed);
    void *first = take(MIB);
    if (plan && later)
        plan(group, nth, and_the_rest, &now->failed);
    void *second = take(2 * MIB);
    take((size_t)1 << 45);
    give(first);
    other_kinds();
    pthread_create(&thread, NULL, work_in_thread, NULL);
    pthread_join(thread, NULL);
    gpumemtrace_pop();
    errno = 77;
    note("exec: %d", execl("/", "x", (char *)NULL));
    give(second);
    take(3 * MIB);
}

/* --- the loop --- */

static void work_with_fault(long nth)
{
    char name[32];
    snprintf(name, sizeof name, "said.%d", (int)getpid());
    const int said = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (said < 0 || dup2(said, STDERR_FILENO) < 0)
        _exit(9);
    close(said);
    work(nth);
    exit(5);
}

static pid_t start(struct seen *seen, long nth)
{
    now = seen;
    memset(seen, 0, sizeof *seen);
    const pid_t child = fork();
    if (child == 0)
        work_with_fault(nth);
    return child;
}

static int finish(const struct seen *seen, long nth, pid_t child)
{
    const int status = child_wait_patiently(child);
    if (status != 5)
        printf("child %ld: %s %d, after\n", nth, status < 0 ? "hung" : "status", status);
    if (status != 5 || nth == 0)
        printf("%s", seen->text);
    printf("number %ld pid %d\n", nth, (int)child);
    return status;
}

/* Runs several children at once, because they mostly wait for the recorder's writer. Returns 1
   if calls failed in all of them, 0 if no more calls are left to fail, -1 if a child saw a wrong
   result. */
static int try_some(struct seen *unharmed, struct seen *seen, long first, long step)
{
    pid_t children[AT_ONCE];
    int result = 1;
    for (int i = 0; i < AT_ONCE; i++)
        children[i] = start(&seen[i], first + i * step);
    for (int i = 0; i < AT_ONCE; i++) {
        const long nth = first + i * step;
        if (finish(&seen[i], nth, children[i]) != 5) {
            result = -1;
        } else if (strcmp(unharmed->text, seen[i].text) != 0) {
            printf("child %ld saw\n%s", nth, seen[i].text);
            result = -1;
        } else if (!seen[i].failed && result == 1) {
            result = 0;
        }
    }
    return result;
}

int main(int argc, char **argv)
{
    static const char *const groups[] = {"memory", "files", "threads", "sqlite"};
    struct seen *seen = mmap(NULL, (1 + AT_ONCE) * sizeof *seen, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const long step = argc > 5 ? strtol(argv[4], NULL, 10) : 0;
    const long first = argc > 5 ? strtol(argv[5], NULL, 10) : 0;
    if (step < 1 || first < 1 || seen == MAP_FAILED)
        return 9;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strcmp(argv[1], groups[i]) == 0)
            group = (enum fault_group)i;
    and_the_rest = strcmp(argv[2], "rest") == 0;
    later = strcmp(argv[3], "later") == 0;
    plan = GMT_FUNCTION(faults_plan_function *, dlsym(RTLD_DEFAULT, "faults_plan"));
    setvbuf(stdout, NULL, _IONBF, 0);
    if (finish(&seen[0], 0, start(&seen[0], 0)) != 5)
        return 9;
    int more = plan ? 1 : 0;
    for (long nth = first; more > 0; nth += AT_ONCE * step)
        more = try_some(&seen[0], &seen[1], nth, step);
    return more < 0 ? 9 : 5;
}
