/* SPDX-License-Identifier: MIT */
/* link: cudart13 dl */
/*
 * Strains a trace and its files: sizes of 1 << 63, thousands of names, names of other tools, more
 * threads than the ring has room for, execs that fail while other threads work, descriptors that
 * the program closes and reuses. Prints its actions, to be compared with the trace.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"
#include "modes.h"
#include "gpumemtrace/gpumemtrace.h"
#include "tests/programs/calls/nvtx_attributes.h"

#define FD_LIMIT 1024

static void *allocate(size_t bytes)
{
    void *block = NULL;
    if (cudaMalloc(&block, bytes) != 0)
        _exit(9);
    return block;
}

static void release(void *block)
{
    if (cudaFree(block) != 0)
        _exit(9);
}

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < FD_LIMIT; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void close_descriptors(void)
{
    for (int fd = STDERR_FILENO + 1; fd < FD_LIMIT; fd++)
        close(fd);
}

/* --- execs that fail --- */

#define WORKERS 3

static atomic_bool stopped;
static atomic_long pairs;

#define PAIRS_MAX 200000 /* on a slow machine, an exec waits for a long backlog */

/* Makes events, but not faster than the recorder's writer stores them. */
static void *work(void *unused)
{
    (void)unused;
    while (!stopped && pairs < PAIRS_MAX) {
        for (int i = 0; i < 100; i++) {
            release(allocate(4096));
            pairs++;
        }
        usleep(1000);
    }
    return NULL;
}

/* The first path is a folder. The second name is searched in PATH, which may have a folder that
   this user may not read. In both cases only the kernel finds out that the exec fails. */
static void fail_to_exec(void)
{
    char name[] = "x";
    char *argv[] = {name, NULL};
    if (execv("/", argv) != -1 || errno != EACCES)
        _exit(9);
    if (execvp("no-such-program-anywhere", argv) != -1 || (errno != ENOENT && errno != EACCES))
        _exit(9);
}

MODE(busy_exec, "busy-exec")
{
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 20; i++) {
        usleep(3000);
        fail_to_exec();
    }
    stopped = true;
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", (long)pairs);
    return 5;
}

MODE(calls_after_exec, "calls-after-exec")
{
    void *const early = allocate(1 << 20);
    fail_to_exec();
    void *const late = allocate(2 << 20);
    allocate(4 << 20);
    release(late);
    fail_to_exec();
    release(early);
    return 5;
}

MODE(descriptors_after_exec, "descriptors-after-exec")
{
    allocate(4096);
    const int before = open_descriptors();
    for (int i = 0; i < 50; i++)
        fail_to_exec();
    printf("%d more descriptors\n", open_descriptors() - before);
    return 5;
}

/* --- descriptors --- */

#define FILES 8

static off_t size_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? status.st_size : 0;
}

/* Waits until the recorder's writer has stored something. By then the writer has opened all its
   files. */
static void wait_for_writer(void)
{
    const off_t before = size_of("trace.db-wal");
    allocate(4096);
    while (getenv("GPUMEMTRACE_OUTPUT") && size_of("trace.db-wal") == before)
        usleep(1000);
}

/* Opens its own files under the numbers of the recorder's descriptors. */
MODE(own_files, "own-files")
{
    int files[FILES], harmed = 0;
    char name[32], text[10] = "";
    struct stat status;
    for (int i = 0; i < 1000; i++)
        allocate(4096);
    wait_for_writer();
    close_descriptors();
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "own.%d", i);
        files[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (write(files[i], "user data", 9) != 9)
            return 9;
    }
    for (int i = 0; i < 20000; i++)
        release(allocate(4096));
    wait_for_writer();
    for (int i = 0; i < FILES; i++)
        harmed += fstat(files[i], &status) != 0 || status.st_size != 9 ||
                  pread(files[i], text, 9, 0) != 9 || strcmp(text, "user data") != 0;
    printf("%d files harmed\n", harmed);
    return 5;
}

/* The next three files that the program opens become its standard descriptors, as in a daemon. */
MODE(standard_descriptors, "standard-descriptors")
{
    const int out = fcntl(STDOUT_FILENO, F_DUPFD, 100);
    int opened[3];
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    allocate(4096);
    for (int i = 0; i < 3; i++)
        opened[i] = open("/dev/null", O_RDWR);
    dprintf(out, "opened %d %d %d\n", opened[0], opened[1], opened[2]);
    return 5;
}

/* Does the same as own_files in a forked child, whose recorder has other descriptors than the
   parent's recorder. */
static void use_descriptors_of_parent(void)
{
    int files[32], harmed = 0;
    void *block;
    struct stat status;
    close_descriptors();
    for (size_t i = 0; i < 32; i++)
        files[i] = open("/dev/null", O_RDONLY);
    printf("child: %d\n", cudaMalloc(&block, 4096));
    for (size_t i = 0; i < 32; i++)
        harmed += fstat(files[i], &status) != 0 || !S_ISCHR(status.st_mode);
    printf("%d files of the child harmed\n", harmed);
}

/* Leaves room for `more` descriptors, which may or may not be enough for the database. */
static void run_out_of_descriptors(rlim_t more)
{
    void *block;
    close_descriptors();
    const struct rlimit limit = {(rlim_t)open_descriptors() + more, FD_LIMIT};
    setrlimit(RLIMIT_NOFILE, &limit);
    printf("child with %d: %d\n", (int)more, cudaMalloc(&block, 4096));
}

/* Allows at most `limit_text` descriptors; prints CUDA's results and the descriptors of the next
   files. */
static int few_descriptors(const char *limit_text)
{
    const struct rlimit limit = {(rlim_t)atol(limit_text), FD_LIMIT};
    void *block = NULL;
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 9;
    printf("alloc %d", cudaMalloc(&block, 4096));
    for (int i = 0; i < 3; i++)
        printf(" %d", open("/dev/null", O_RDONLY));
    printf(" free %d\n", cudaFree(block));
    return 5;
}

static int in_child(void (*run)(rlim_t), rlim_t argument)
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        run(argument);
        _exit(5);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void use_parents(rlim_t unused)
{
    (void)unused;
    use_descriptors_of_parent();
}

MODE(child_files, "child-files")
{
    allocate(4096);
    return in_child(use_parents, 0);
}

MODE(child_without_trace, "child-without-trace")
{
    allocate(4096);
    for (rlim_t more = 0; more < 8; more++)
        if (in_child(run_out_of_descriptors, more) != 5)
            return 9;
    return 5;
}

/* --- sizes and threads --- */

MODE(huge, "huge")
{
    void *block;
    void *const small = allocate(4096);
    printf("%d", cudaMalloc(&block, (size_t)1 << 63));
    printf(" %d\n", cudaMalloc(&block, (size_t)1 << 62));
    release(small);
    return 5;
}

#define THREADS 16

static pthread_barrier_t everyone;

static void *hold(void *unused)
{
    (void)unused;
    void *block = allocate(4096);
    pthread_barrier_wait(&everyone);
    release(block);
    return NULL;
}

/* Each living thread with events holds a segment of the ring. Then waits for its input to end. */
MODE(threads_at_once, "threads-at-once")
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&everyone, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, hold, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    puts("ended");
    while (getchar() != EOF)
        ;
    return 5;
}

static void *press(void *unused)
{
    (void)unused;
    for (int i = 0; i < 50000; i++)
        release(allocate(4096));
    return NULL;
}

MODE(heavy_load, "heavy-load")
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, press, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 5;
}

static pthread_key_t last_block;

static void release_last(void *block)
{
    release(block);
}

static void *leave_to_destructor(void *unused)
{
    (void)unused;
    pthread_setspecific(last_block, allocate(4096));
    return NULL;
}

MODE(destructors, "destructors")
{
    pthread_t thread;
    allocate(1);
    pthread_key_create(&last_block, release_last);
    for (int i = 0; i < 20; i++) {
        pthread_create(&thread, NULL, leave_to_destructor, NULL);
        pthread_join(thread, NULL);
    }
    return 5;
}

/* --- names --- */

static int names_up_to(int count)
{
    char name[32];
    allocate(4096);
    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "iteration %d", i);
        gpumemtrace_push(name);
        if (i % 1000 == 0)
            allocate(4096);
        gpumemtrace_pop();
    }
    return 5;
}

MODE(names, "names")
{
    return names_up_to(9000);
}

MODE(more_names, "more-names")
{
    names_up_to(70000);
    gpumemtrace_mark("iteration 7");
    return 5;
}

typedef int push_function(const struct attributes *attributes);
typedef int wide_push_function(const wchar_t *name);
typedef int pop_function(void);

/* Another tool chooses its own handles: numbers, or its own addresses. */
MODE(other_tools_names, "other-tools-names")
{
    push_function *push = GMT_FUNCTION(push_function *, dlsym(RTLD_DEFAULT, "nvtxRangePushEx"));
    pop_function *pop = GMT_FUNCTION(pop_function *, dlsym(RTLD_DEFAULT, "nvtxRangePop"));
    const uintptr_t handles[] = {1, 7, 4096, UINTPTR_MAX};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) {
        const struct attributes attributes = {.version = 3,
                                              .size = sizeof attributes,
                                              .message_type = MESSAGE_REGISTERED,
                                              .message = (const void *)handles[i]};
        if (push)
            push(&attributes);
        allocate(4096);
        if (pop)
            pop();
    }
    return 5;
}

MODE(wide_names, "wide-names")
{
    wide_push_function *push =
        GMT_FUNCTION(wide_push_function *, dlsym(RTLD_DEFAULT, "nvtxRangePushW"));
    pop_function *pop = GMT_FUNCTION(pop_function *, dlsym(RTLD_DEFAULT, "nvtxRangePop"));
    const wchar_t *const texts[] = {L"plain", L"caf\u00e9", L"\u20ac 5", L"\U0001d11e"};
    allocate(4096);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (push)
            push(texts[i]);
        allocate(4096);
        if (pop)
            pop();
    }
    return 5;
}

/* --- a reader --- */

/* Prints that it has allocated; ends at the end of its stdin. */
MODE(wait_for_reader, "wait-for-reader")
{
    allocate(4096);
    puts("allocated");
    while (getchar() != EOF)
        ;
    return 5;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    if (argc > 2 && strcmp(argv[1], "few-descriptors") == 0)
        return few_descriptors(argv[2]);
    return run_mode(argc, argv);
}
