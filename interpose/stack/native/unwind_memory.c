/* SPDX-License-Identifier: MIT */
/*
 * See unwind_memory.h. Replaces one accessor of libunwind's local address space. libunwind's public
 * function unw_get_accessors gives the table of accessors.
 */
#include "unwind_memory.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interpose/image/elf_image.h"
#include "gpumemtrace/compiler.h"
#include "common/own_fd.h"

#ifdef __aarch64__
#define LOCAL_ADDRESS_SPACE "_ULaarch64_local_addr_space"
#define GET_ACCESSORS "_Uaarch64_get_accessors"
#else
#define LOCAL_ADDRESS_SPACE "_ULx86_64_local_addr_space"
#define GET_ACCESSORS "_Ux86_64_get_accessors"
#endif

#define ERROR_INVALID 8 /* UNW_EINVAL; a result is its negative */

typedef int access_function(void *space, uintptr_t address, uintptr_t *value, int write,
                            void *argument);

/* The struct of libunwind.h, up to the accessor that is replaced. */
struct accessors {
    void *find_proc_info, *put_unwind_info, *get_dyn_info_list_addr;
    _Atomic(access_function *) access_mem;
};

typedef struct accessors *get_accessors_function(void *space);

/* Pages of the stack being unwound stay readable, so one check is enough. Other pages are checked
 * each time, because they may be unmapped and a wrong frame pointer may point anywhere. */
#define PAGE_BITS 12
#define PAGES_KNOWN 4
#define STACK_BYTES ((uintptr_t)8 << 20)
static _Thread_local uintptr_t readable_pages[PAGES_KNOWN] GMT_TLS_INITIAL_EXEC;

/* rt_sigprocmask with the invalid operation -1 changes nothing. The kernel first reads the signal
 * set, and fails with EFAULT if it cannot read it. Only after that it refuses the operation. */
static bool can_read(uintptr_t address)
{
    enum { KERNEL_SIGSET_BYTES = 8 };
    const int saved_errno = errno;
    const bool readable =
        syscall(SYS_rt_sigprocmask, -1, address, NULL, (size_t)KERNEL_SIGSET_BYTES) == 0 ||
        errno != EFAULT;
    errno = saved_errno;
    return readable;
}

bool unwind_memory_is_readable(uintptr_t address)
{
    const uintptr_t page = address >> PAGE_BITS;
    uintptr_t *known = &readable_pages[page % PAGES_KNOWN];
    if (*known == page && address - (uintptr_t)&page < STACK_BYTES &&
        (address + sizeof address - 1) >> PAGE_BITS == page)
        return true;
    if (!can_read(address))
        return false;
    *known = page;
    return true;
}

static int access_checked(void *space, uintptr_t address, uintptr_t *value, int write,
                          void *argument)
{
    (void)space, (void)argument;
    if (!unwind_memory_is_readable(address))
        return -ERROR_INVALID;
    if (write)
        *(uintptr_t *)address = *value;
    else
        *value = *(const uintptr_t *)address;
    return 0;
}

/* --- initializing libunwind --- */

struct request {
    get_accessors_function *get;
    void *space;
    struct accessors *accessors;
};

static int get_accessors(void *argument)
{
    struct request *request = argument;
    request->accessors = request->get(request->space);
    return 0;
}

/* Calls libunwind in a child that shares this memory but not the table of descriptors, so that
 * libunwind's pipe is closed when the child ends. As with vfork, the calling thread waits until
 * then. No signal tells the program about the child. */
static void get_accessors_in_child(struct request *request)
{
    enum { STACK_BYTES_OF_CHILD = 128 << 10 };
    sigset_t all, before;
    char *stack = mmap(NULL, STACK_BYTES_OF_CHILD, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t child =
        clone(get_accessors, stack + STACK_BYTES_OF_CHILD, CLONE_VM | CLONE_VFORK, request);
    while (child > 0 && waitpid(child, NULL, __WCLONE) < 0 && errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    munmap(stack, STACK_BYTES_OF_CHILD);
}

/* Calls libunwind here. Its first call makes the pipe. */
static void get_accessors_here(struct request *request)
{
    struct own_fd_guard guard;
    own_fd_guard_begin(&guard);
    get_accessors(request);
    own_fd_guard_end(&guard);
}

void unwind_memory_install(const struct link_map *libunwind)
{
    void *const *space = elf_image_symbol(libunwind, LOCAL_ADDRESS_SPACE);
    get_accessors_function *get =
        GMT_FUNCTION(get_accessors_function *, elf_image_symbol(libunwind, GET_ACCESSORS));
    if (!space || !get)
        return;
    struct request request = {get, *space, NULL};
    get_accessors_in_child(&request);
    if (!request.accessors) /* no child could be made, or an emulator gave the child memory of its
                             * own */
        get_accessors_here(&request);
    /* Relaxed, because a thread that unwinds at the same time may use either accessor. */
    if (request.accessors)
        atomic_store_explicit(&request.accessors->access_mem, access_checked, memory_order_relaxed);
}
