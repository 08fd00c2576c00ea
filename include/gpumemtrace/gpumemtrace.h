/* SPDX-License-Identifier: MIT */
/*
 * gpumemtrace.h: tells the recorder what a program is doing.
 *
 * Header only, for C99 and C++: there is nothing to link. Under LD_PRELOAD=libgpumemtrace.so the
 * calls reach the recorder. Without it they do nothing and cost a load and a branch.
 *
 *     gpumemtrace_push("forward");      begins the phase "forward"
 *     gpumemtrace_pop();                ends the innermost phase that this thread began
 *     gpumemtrace_mark("epoch 2");      a named moment
 *     gpumemtrace_step(17);             training iteration 17 ends here
 *
 * An allocator that hands out blocks of GPU memory can report them:
 *
 *     gpumemtrace_pool_alloc("rmm", device, address, size_bytes);    after handing out a block
 *     gpumemtrace_pool_free("rmm", device, address);                 before it can be reused
 *     gpumemtrace_pool_oom("rmm", device, size_bytes);               when a request fails
 *
 * Reports show the pool under this name; pools with one name on one device count as one pool.
 * `device` is the number that the process sees. `size_bytes` is the size that the block occupies.
 * PyTorch's caching allocator is recorded without these calls.
 *
 * Under `gpumemtrace run --holders`, and in dry runs, the recorder finds the Python variables that
 * keep memory alive: when memory runs out, at a few new highs, at the end, and on demand:
 *
 *     gpumemtrace_holders();            takes Python's lock; hold no lock that Python code needs
 *
 * Phases can lie inside each other ("epoch/forward") and cover the whole process from push to pop.
 * If phases overlap, an allocation belongs to the innermost phase of its own thread. Names are
 * copied, up to 4096 bytes; NULL is a phase without a name. Every other function may be called from
 * any thread at any time, with any lock held. No function can fail.
 *
 * From Python, without this header, under the recorder:
 *
 *     ctypes.CDLL(None).gpumemtrace_push(b"forward")
 *
 * NVTX ranges (torch.cuda.nvtx.range_push) also become phases.
 *
 * glibc before 2.34 needs -ldl.
 */
#ifndef GPUMEMTRACE_H
#define GPUMEMTRACE_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gpumemtrace_functions_ {
    void (*push)(const char *name);
    void (*pop)(void);
    void (*mark)(const char *text);
    void (*step)(uint64_t number);
    void (*pool_alloc)(const char *pool, int device, const void *address, size_t size_bytes);
    void (*pool_free)(const char *pool, int device, const void *address);
    void (*pool_oom)(const char *pool, int device, size_t size_bytes);
    void (*holders)(void);
};

/* Looks up the functions once for each source file; without the recorder every member is NULL. Two
 * threads may look up the functions at the same time, because both store the same pointers.
 * dlopen(NULL) opens the program with its preloaded libraries. */
static inline const struct gpumemtrace_functions_ *gpumemtrace_functions_(void)
{
    static struct gpumemtrace_functions_ functions;
    static volatile int looked;
    if (!looked) {
        void *program = dlopen(NULL, RTLD_LAZY);
        if (program) {
            *(void **)&functions.push = dlsym(program, "gpumemtrace_push");
            *(void **)&functions.pop = dlsym(program, "gpumemtrace_pop");
            *(void **)&functions.mark = dlsym(program, "gpumemtrace_mark");
            *(void **)&functions.step = dlsym(program, "gpumemtrace_step");
            *(void **)&functions.pool_alloc = dlsym(program, "gpumemtrace_pool_alloc");
            *(void **)&functions.pool_free = dlsym(program, "gpumemtrace_pool_free");
            *(void **)&functions.pool_oom = dlsym(program, "gpumemtrace_pool_oom");
            *(void **)&functions.holders = dlsym(program, "gpumemtrace_holders");
        }
        looked = 1;
    }
    return &functions;
}

static inline void gpumemtrace_push(const char *name)
{
    if (gpumemtrace_functions_()->push)
        gpumemtrace_functions_()->push(name);
}

static inline void gpumemtrace_pop(void)
{
    if (gpumemtrace_functions_()->pop)
        gpumemtrace_functions_()->pop();
}

static inline void gpumemtrace_mark(const char *text)
{
    if (gpumemtrace_functions_()->mark)
        gpumemtrace_functions_()->mark(text);
}

static inline void gpumemtrace_step(uint64_t number)
{
    if (gpumemtrace_functions_()->step)
        gpumemtrace_functions_()->step(number);
}

static inline void gpumemtrace_pool_alloc(const char *pool, int device, const void *address,
                                          size_t size_bytes)
{
    if (gpumemtrace_functions_()->pool_alloc)
        gpumemtrace_functions_()->pool_alloc(pool, device, address, size_bytes);
}

static inline void gpumemtrace_pool_free(const char *pool, int device, const void *address)
{
    if (gpumemtrace_functions_()->pool_free)
        gpumemtrace_functions_()->pool_free(pool, device, address);
}

static inline void gpumemtrace_pool_oom(const char *pool, int device, size_t size_bytes)
{
    if (gpumemtrace_functions_()->pool_oom)
        gpumemtrace_functions_()->pool_oom(pool, device, size_bytes);
}

static inline void gpumemtrace_holders(void)
{
    if (gpumemtrace_functions_()->holders)
        gpumemtrace_functions_()->holders();
}

#ifdef __cplusplus
}
#endif

#endif
