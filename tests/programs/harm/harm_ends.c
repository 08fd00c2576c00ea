/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Ends, forks, execs and jumps at the worst moment: inside malloc, inside a call, inside exit,
 * while a recording starts, with a pending cancellation, or with a stderr that nobody reads. Prints
 * the results, which must be the same with and without the recorder. Kills and names a process that
 * hangs.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "child.h"
#include "gpumemtrace/cuda/abi.h"
#include "modes.h"

#define MIB ((size_t)1 << 20)

static void allocate_or_end(size_t bytes)
{
    void *block;
    if (cudaMalloc(&block, bytes) != 0)
        _exit(9);
}

static void *allocate_and_free(void *unused)
{
    void *block;
    (void)unused;
    if (cudaMalloc(&block, MIB) != 0 || cudaFree(block) != 0)
        _exit(9);
    return NULL;
}

/* Calls run() in one child process after another, and stops when a child ends in a wrong way. */
static int repeat(int times, void (*run)(int turn))
{
    for (int turn = 0; turn < times; turn++) {
        const pid_t child = fork();
        if (child == 0) {
            run(turn);
            _exit(9);
        }
        const int status = child_wait_patiently(child);
        if (status != 5) {
            printf("child %d: %s %d\n", turn, status < 0 ? "hung" : "status", status);
            return 1;
        }
    }
    printf("%d children ended as they were told\n", times);
    return 5;
}

/* --- ends from signal handlers --- */

static void end_now(int signal_number)
{
    (void)signal_number;
    _exit(5);
}

static void end_after_us(unsigned delay_us)
{
    const struct itimerval timer = {.it_interval = {0, 5000}, .it_value = {0, (int)delay_us}};
    signal(SIGALRM, end_now);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void end_inside_malloc(int turn)
{
    void *blocks[64];
    allocate_or_end(MIB);
    end_after_us(5000 + (unsigned)turn * 37);
    for (;;) {
        for (size_t i = 0; i < 64; i++)
            blocks[i] = malloc(3000 + i * 1000);
        for (size_t i = 0; i < 64; i++)
            free(blocks[i]);
    }
}

MODE(malloc_exit, "malloc-exit")
{
    return repeat(30, end_inside_malloc);
}

/* The signal arrives while exit stores many events that are still in the ring. */
MODE(exit_in_exit, "exit-in-exit")
{
    for (int i = 0; i < 150000; i++)
        allocate_and_free(NULL);
    end_after_us(5000);
    exit(5);
}

/* --- cancellation --- */

static pthread_barrier_t at_call;

static void *call_when_cancelled(void *unused)
{
    (void)unused;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_barrier_wait(&at_call);
    pthread_barrier_wait(&at_call);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    allocate_or_end(MIB);
    return "came back";
}

MODE(cancel, "cancel")
{
    pthread_t thread;
    void *result;
    pthread_barrier_init(&at_call, NULL, 2);
    pthread_create(&thread, NULL, call_when_cancelled, NULL);
    pthread_barrier_wait(&at_call);
    pthread_cancel(thread);
    pthread_barrier_wait(&at_call);
    pthread_join(thread, &result);
    printf("thread: %s\n", result == PTHREAD_CANCELED ? "cancelled" : (const char *)result);
    allocate_or_end(MIB);
    return 5;
}

/* --- fork --- */

/* Forks during a thread's first call, each time at a different moment of it. The child ends at
   once. */
static void fork_while_starting(int turn)
{
    pthread_t thread;
    pthread_create(&thread, NULL, allocate_and_free, NULL);
    usleep((unsigned)turn * 250);
    const pid_t child = fork();
    if (child == 0)
        _exit(5);
    const int status = child_wait_patiently(child);
    pthread_join(thread, NULL);
    _exit(status);
}

MODE(fork_during_start, "fork-during-start")
{
    return repeat(40, fork_while_starting);
}

/* CUDA fails in a child of a process that has used CUDA. Four threads of the child call it at
   the same moment. */
static void *be_refused(void *unused)
{
    void *block;
    (void)unused;
    pthread_barrier_wait(&at_call);
    if (cudaMalloc(&block, MIB) != cudaErrorInitializationError)
        _exit(9);
    return NULL;
}

static void first_calls_of_child(int turn)
{
    pthread_t threads[4];
    (void)turn;
    pthread_barrier_init(&at_call, NULL, 4);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, be_refused, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    _exit(5);
}

MODE(fork_race, "fork-race")
{
    allocate_or_end(MIB);
    return repeat(20, first_calls_of_child);
}

/* --- signals raised by our own writing --- */

/* The recorder writes its line at exit after the reader of stderr has ended. */
MODE(sigpipe, "sigpipe")
{
    int ends[2];
    if (pipe(ends) != 0)
        return 9;
    close(ends[0]);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    allocate_or_end(MIB);
    return 5;
}

MODE(many_events, "many-events")
{
    for (int i = 0; i < 20000; i++)
        allocate_and_free(NULL);
    return 5;
}

static int limit_files_to(size_t bytes)
{
    const struct rlimit limit = {bytes, bytes};
    return setrlimit(RLIMIT_FSIZE, &limit) == 0 ? many_events() : 9;
}

MODE(file_size_limit, "file-size-limit")
{
    return limit_files_to(MIB);
}

MODE(no_file_at_all, "no-file-at-all")
{
    return limit_files_to(0);
}

/* --- exec --- */

#define ARGUMENTS_16 "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a",
#define TIMES_16(arguments)                                                                        \
    arguments arguments arguments arguments arguments arguments arguments arguments arguments      \
        arguments arguments arguments arguments arguments arguments arguments
#define ARGUMENTS_256 TIMES_16(ARGUMENTS_16)
#define ARGUMENTS_4096 TIMES_16(ARGUMENTS_256)
#define COUNT_THEM "sh", "-c", "echo $# $MARK; exit 5", "sh"

MODE(many_arguments, "many-arguments")
{
    char mark[] = "MARK=kept";
    char *environment[] = {mark, NULL};
    allocate_or_end(MIB);
    execle("/bin/sh", COUNT_THEM, ARGUMENTS_4096 ARGUMENTS_16(char *) NULL, environment);
    printf("execle failed: %s\n", strerror(errno));
    return 9;
}

MODE(some_arguments, "some-arguments")
{
    allocate_or_end(MIB);
    setenv("MARK", "inherited", 1);
    execlp("sh", COUNT_THEM, ARGUMENTS_256(char *) NULL);
    printf("execlp failed: %s\n", strerror(errno));
    return 9;
}

static void *fail_to_exec(void *unused)
{
    (void)unused;
    const bool failed = execl("/nowhere/to/be/found", "x", (char *)NULL) == -1 && errno == ENOENT;
    return failed ? allocate_and_free(NULL) : "exec did not say ENOENT";
}

/* A thread with the smallest possible stack makes the first CUDA call and an exec. */
MODE(small_stack, "small-stack")
{
    pthread_attr_t attributes;
    pthread_t thread;
    void *complaint;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)16 << 10);
    if (pthread_create(&thread, &attributes, fail_to_exec, NULL) != 0)
        return 9;
    pthread_join(thread, &complaint);
    printf("small stack: %s\n", complaint ? (const char *)complaint : "enough");
    return 5;
}

/* Sets a small default stack size, which the recorder's thread would also get. */
MODE(small_default_stack, "small-default-stack")
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)16 << 10);
    if (pthread_setattr_default_np(&attributes) != 0)
        return 9;
    allocate_and_free(NULL);
    return 5;
}

/* --- jumps out of a call --- */

static sigjmp_buf before_the_call;

static void jump_out(int signal_number)
{
    (void)signal_number;
    siglongjmp(before_the_call, 1);
}

/* Returns true if the call crashed and the signal handler jumped out of it, so that the call
   never returned. */
static bool is_jumped_out_of(void **block)
{
    if (sigsetjmp(before_the_call, 1) != 0)
        return true;
    cudaMalloc(block, MIB);
    return false;
}

MODE(jumps, "jumps")
{
    int jumped = 0;
    signal(SIGSEGV, jump_out);
    for (int i = 0; i < 8; i++) {
        void *block = NULL;
        jumped += is_jumped_out_of(i % 2 ? &block : (void **)(uintptr_t)8);
        cudaFree(block);
    }
    printf("jumped out of %d calls\n", jumped);
    return 5;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    return run_mode(argc, argv);
}
