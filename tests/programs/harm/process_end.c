/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Allocates 1, 2 and 3 MiB, frees the 1 MiB, and then ends in the given way. In most modes its
 * trace must have 3 allocations, 1 free, and 5 MiB live at exit.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpumemtrace/cuda/abi.h"
#include "modes.h"
#include "gpumemtrace/gpumemtrace.h"

#define MIB ((size_t)1 << 20)

static void *blocks[4];

static void allocate(int mebibytes)
{
    if (cudaMalloc(&blocks[mebibytes], (size_t)mebibytes * MIB) != 0)
        _exit(9);
}

static void release(int mebibytes)
{
    if (cudaFree(blocks[mebibytes]) != 0)
        _exit(9);
}

static void work(void)
{
    for (int i = 1; i <= 3; i++)
        allocate(i);
    release(1);
}

static int wait_for(pid_t child)
{
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void release_rest(void)
{
    release(2);
    release(3);
}

/* --- modes --- */

MODE(by_return, "return")
{
    work();
    return 5;
}

MODE(by_exit, "exit")
{
    work();
    exit(5);
}

MODE(by_quick_exit, "quick-exit")
{
    at_quick_exit(release_rest);
    work();
    quick_exit(5);
}

MODE(by__exit, "_exit")
{
    work();
    _exit(5);
}

MODE(by_atexit, "atexit")
{
    work();
    atexit(release_rest);
    return 5;
}

MODE(by_exec, "exec")
{
    work();
    execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
    return 9;
}

MODE(by_failed_exec, "failed-exec")
{
    work();
    if (execl("/nowhere/to/be/found", "x", (char *)NULL) == 0 || execl("/", "x", (char *)NULL) == 0)
        return 9;
    release(3);
    allocate(3);
    return 5;
}

MODE(by_signal, "signal")
{
    work();
    return raise(SIGTERM);
}

/* CUDA does not work in a child forked after its first use: the child's call must fail as it does
 * without the recorder, and the child makes its own trace. */
MODE(fork_after, "fork-after")
{
    work();
    const pid_t child = fork();
    if (child == 0)
        exit(cudaMalloc(&blocks[0], MIB) == cudaErrorInitializationError ? 0 : 9);
    return wait_for(child) == 0 ? 5 : 9;
}

MODE(fork_idle, "fork-idle")
{
    work();
    const pid_t child = fork();
    if (child == 0)
        exit(0);
    return wait_for(child) == 0 ? 5 : 9;
}

MODE(fork_before, "fork-before")
{
    const pid_t child = fork();
    if (child == 0) {
        allocate(1);
        allocate(2);
        _exit(0);
    }
    const int status = wait_for(child);
    work();
    return status == 0 ? 5 : 9;
}

MODE(spawn, "spawn")
{
    work();
    const pid_t child = vfork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit 0", (char *)NULL);
        _exit(9);
    }
    return wait_for(child) == 0 ? 5 : 9;
}

static void *short_life(void *unused)
{
    void *block = NULL;
    (void)unused;
    if (cudaMalloc(&block, MIB) != 0 || cudaFree(block) != 0)
        _exit(9);
    return NULL;
}

MODE(many_threads, "many-threads")
{
    pthread_t thread;
    for (int i = 0; i < 3000; i++) {
        if (pthread_create(&thread, NULL, short_life, NULL) != 0)
            return 9;
        pthread_join(thread, NULL);
    }
    work();
    return 5;
}

static void *work_elsewhere(void *unused)
{
    (void)unused;
    work();
    return NULL;
}

/* One thread opens a phase, another makes the first CUDA call, and the first closes the phase. */
MODE(early_phase, "early-phase")
{
    pthread_t thread;
    gpumemtrace_push("train");
    if (pthread_create(&thread, NULL, work_elsewhere, NULL) != 0)
        return 9;
    pthread_join(thread, NULL);
    gpumemtrace_pop();
    allocate(1);
    release(1);
    return 5;
}

static void *pop_elsewhere(void *nothing)
{
    gpumemtrace_pop();
    return nothing;
}

/* Another thread closes a phase that it did not open, before the first CUDA call. */
MODE(early_pop, "early-pop")
{
    pthread_t thread;
    gpumemtrace_push("train");
    if (pthread_create(&thread, NULL, pop_elsewhere, NULL) != 0)
        return 9;
    pthread_join(thread, NULL);
    allocate(1);
    gpumemtrace_pop();
    release(1);
    return 5;
}

#define OWN_FILES 8

/* Is code without unwind information, as just-in-time compilers generate it. In such code,
   libunwind checks whether a frame can be read before reading it. */
void call_from_nowhere(void *(*function)(void *));
#ifdef __aarch64__
__asm__(".text\n"
        ".globl call_from_nowhere\n"
        ".type call_from_nowhere, %function\n"
        "call_from_nowhere:\n"
        "    stp x29, x30, [sp, #-16]!\n"
        "    mov x29, sp\n"
        "    mov x1, x0\n"
        "    mov x0, xzr\n"
        "    blr x1\n"
        "    ldp x29, x30, [sp], #16\n"
        "    ret\n"
        ".size call_from_nowhere, .-call_from_nowhere\n");
#else
__asm__(".text\n"
        ".globl call_from_nowhere\n"
        ".type call_from_nowhere, @function\n"
        "call_from_nowhere:\n"
        "    push %rbp\n"
        "    mov %rsp, %rbp\n"
        "    mov %rdi, %rax\n"
        "    xor %edi, %edi\n"
        "    call *%rax\n"
        "    pop %rbp\n"
        "    ret\n"
        ".size call_from_nowhere, .-call_from_nowhere\n");
#endif

/* Closes all descriptors, including the recorder's, and opens files that get the same numbers.
   Only this program may write to these files or move their read positions. */
MODE(close_all, "close-all")
{
    char name[32], text[8] = "";
    int own[OWN_FILES];
    work();
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    for (int i = 0; i < OWN_FILES; i++) {
        snprintf(name, sizeof name, "own-%d", i);
        own[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
        if (own[i] < 0 || write(own[i], "mine", 4) != 4)
            return 9;
    }
    for (int i = 0; i < OWN_FILES; i++)
        lseek(own[i], 1, SEEK_SET);
    for (int i = 0; i < 20000; i++)
        call_from_nowhere(short_life);
    for (int i = 0; i < OWN_FILES; i++)
        if (lseek(own[i], 0, SEEK_CUR) != 1 || lseek(own[i], 0, SEEK_END) != 4 ||
            pread(own[i], text, 4, 0) != 4 || memcmp(text, "mine", 4) != 0)
            return 9;
    return 5;
}

MODE(quiet, "no-cuda")
{
    return 5;
}

int main(int argc, char **argv)
{
    return run_mode(argc, argv);
}
