/* SPDX-License-Identifier: MIT */
/*
 * Finds the node of PyTorch's autograd that an allocation belongs to. In a forward pass, it is the
 * node that the operator made before it allocated. In a backward pass, it is the node that is being
 * evaluated. So an allocation of a backward pass can be tied to the forward allocation with the
 * same node. No reference to a node is held, because releasing a reference might call into Python.
 *
 *     forward    get_and_increment ─► number ─► allocations ─► set_gradient_edge: operator is done
 *     backward   evaluate_function(node) ─► allocations ─► it returns, or throws
 *
 * If the operator allocated nothing (a slice, relu_), the node is noted with a stack when the
 * operator is done, because its backward may allocate. Nodes whose backward only views a gradient
 * are not noted.
 *
 * PyTorch numbers the nodes of each thread separately. So a node's name consists of its number and
 * the thread that made it (as PyTorch numbers threads). The positions of both in a node depend on
 * the release of PyTorch. Each layout is tested at every node that is evaluated: the number must be
 * below the highest number that PyTorch has given to a node, and the thread must be one that
 * PyTorch has numbered. Nodes have no names until exactly one layout has passed at every node.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "gpumemtrace/event.h"
#include "interpose/hook/hooked_call.h"
#include "torch.h"

/* torch::autograd::Node: first its type and the count of its owners, then the node's number of 64
 * bits, two other numbers, and the thread. A node is at least NODE_WORDS words long. */
#define NODE_WORDS 8
struct torch_node {
    uint64_t words[NODE_WORDS];
};

/* Positions in words. A node with the number UINT64_MAX is a leaf, which no operator made. */
static const struct layout {
    unsigned number, thread;
} layouts[] = {
    {3, 6}, /* owned by std::shared_ptr: 2.6 */
    {2, 5}, /* has its own count of owners: 2.15 */
};
enum { LAYOUT_COUNT = sizeof layouts / sizeof *layouts };

/* A node's name as the event stores it: number 0 means no node, and any other number is PyTorch's
 * number + 1. */
struct node_name {
    uint64_t number, thread;
};

struct evaluation {
    struct node_name node;
    uintptr_t frame; /* stack address of the hook that evaluates; 0: none */
};

struct autograd {
    uint64_t own_thread; /* as PyTorch numbers threads; 0: unknown */
    uint64_t made;       /* number of the node whose operator runs; 0: none */
    struct evaluation evaluation;
    struct node_name written; /* the last node in the trace for this thread … */
    bool written_is_backward;
    uint64_t written_in;  /* … and the generation of that recording */
    unsigned silent_left; /* nodes without a tensor that may still be written */
};
/* A thread writes at most this many nodes without a tensor before its next tensor, so that a
 * program that computes on the CPU pays for no more stacks. */
enum { SILENT_MOST = 4096 };
static _Thread_local struct autograd now GMT_TLS_INITIAL_EXEC;

/* Relaxed: each value is only compared with those in a node, and PyTorch's own locks order the
 * passing of a node between threads. */
static _Atomic uint64_t highest_number, highest_thread;
static _Atomic unsigned possible_layouts = (1 << LAYOUT_COUNT) - 1; /* one bit each */

static GMT_UNUSED void raise_to(_Atomic uint64_t *highest, uint64_t value)
{
    if (atomic_load_explicit(highest, memory_order_relaxed) < value)
        atomic_store_explicit(highest, value, memory_order_relaxed);
}

static bool stands_test(const struct torch_node *node, const struct layout *layout)
{
    const uint64_t number = node->words[layout->number] + 1, thread = node->words[layout->thread];
    return number <= atomic_load_explicit(&highest_number, memory_order_relaxed) && thread &&
           thread <= atomic_load_explicit(&highest_thread, memory_order_relaxed);
}

/* Returns the layouts that have passed the test at this node and at all earlier nodes. */
static unsigned test_layouts(const struct torch_node *node)
{
    const unsigned before = atomic_load_explicit(&possible_layouts, memory_order_relaxed);
    unsigned possible = before;
    for (unsigned i = 0; i < LAYOUT_COUNT; i++)
        if ((possible & 1U << i) && !stands_test(node, &layouts[i]))
            possible &= ~(1U << i);
    return possible == before
               ? before
               : atomic_fetch_and_explicit(&possible_layouts, possible, memory_order_relaxed) &
                     possible;
}

static GMT_UNUSED struct node_name name_of(const struct torch_node *node)
{
    const unsigned possible = test_layouts(node);
    for (unsigned i = 0; i < LAYOUT_COUNT; i++)
        if (possible == 1U << i && node->words[layouts[i].number] != UINT64_MAX)
            return (struct node_name){node->words[layouts[i].number] + 1,
                                      node->words[layouts[i].thread]};
    return (struct node_name){0, 0};
}

/* Is this thread evaluating a node? If the hook's frame is gone, the evaluation threw an exception
 * and the hook could not end it, so this function ends it. */
static bool is_evaluating(void)
{
    const char here = 0;
    if (now.evaluation.frame && (uintptr_t)&here >= now.evaluation.frame)
        now.evaluation = (struct evaluation){{0, 0}, 0};
    return now.evaluation.frame != 0;
}

/* --- the trace --- */

static struct event_args node_event(struct node_name node, bool is_backward)
{
    return (struct event_args){.kind = EVENT_AUTOGRAD_NODE,
                               .device = DEVICE_UNKNOWN,
                               .object = node.number,
                               .address = node.thread,
                               .size_bytes = is_backward};
}

/* Returns true if the trace has another node for this thread, and takes the new one as written. */
static bool must_write(const struct thread *thread, struct node_name node, bool is_backward)
{
    if (now.written_in != thread->generation) {
        now.written = (struct node_name){0, 0};
        now.written_is_backward = false;
        now.written_in = thread->generation;
    }
    const bool is_new = node.number != now.written.number || node.thread != now.written.thread ||
                        is_backward != now.written_is_backward;
    now.written = node;
    now.written_is_backward = is_backward;
    return is_new;
}

void torch_note_node(void)
{
    const bool is_made = now.made && now.own_thread;
    const bool is_backward = !is_made && is_evaluating();
    struct node_name node = {0, 0};
    if (is_made)
        node = (struct node_name){now.made, now.own_thread};
    else if (is_backward)
        node = now.evaluation.node;
    struct thread *thread = thread_current();
    now.silent_left = SILENT_MOST;
    if (thread && must_write(thread, node, is_backward)) {
        const struct event_args args = node_event(node, is_backward);
        event_write(thread, HOOK_autograd, &args);
    }
}

/* --- nodes of operators that allocate nothing --- */

/* The classes of torch::autograd::generated whose backward only views its gradient. */
static const char *const viewing_classes[] = {
    "View", "UnsafeView", "Transpose", "T", "Permute", "Squeeze", "Unsqueeze", "Alias", "Detach",
};

/* The classes of nodes met so far, by the addresses of their tables of virtual functions, which are
 * aligned. A slot holds such an address, plus ONLY_VIEWS; 0: none. Relaxed: it is one word. */
enum { CLASS_SLOTS = 64, ONLY_VIEWS = 1 };
static _Atomic uintptr_t classes[CLASS_SLOTS];

/* mangled: N5torch8autograd9generated13ViewBackward0E */
static GMT_UNUSED bool only_views(const char *mangled)
{
    const char *name = mangled ? strstr(mangled, "9generated") : NULL;
    if (!name)
        return false;
    name += sizeof "9generated" - 1;
    name += strspn(name, "0123456789");
    for (size_t i = 0; i < sizeof viewing_classes / sizeof *viewing_classes; i++) {
        const size_t length = strlen(viewing_classes[i]);
        if (strncmp(name, viewing_classes[i], length) == 0 &&
            strncmp(name + length, "Backward", sizeof "Backward" - 1) == 0)
            return true;
    }
    return false;
}

/* C++'s ABI puts the address of the class's std::type_info before the table of virtual functions;
 * the second word of that is the name. */
static GMT_UNUSED bool node_only_views(const struct torch_node *node)
{
    const uintptr_t table = (uintptr_t)node->words[0];
    _Atomic uintptr_t *const slot = &classes[table / sizeof table % CLASS_SLOTS];
    uintptr_t class = atomic_load_explicit(slot, memory_order_relaxed);
    if ((class & ~(uintptr_t)ONLY_VIEWS) != table) {
        const uintptr_t *const type = *((const uintptr_t *const *)table - 1);
        class = table | (type && only_views((const char *)type[1]) ? ONLY_VIEWS : 0);
        atomic_store_explicit(slot, class, memory_order_relaxed);
    }
    return class & ONLY_VIEWS;
}

/* Returns the node that the operator of this thread made, if the edge leads to it. The edge's first
 * word is the address of its node, and the caller keeps the edge on the stack. */
static GMT_UNUSED const struct torch_node *node_made(uintptr_t edge)
{
    enum { CALLER_FRAMES_BYTES = 1 << 16 };
    const char here = 0;
    if (edge - (uintptr_t)&here >= CALLER_FRAMES_BYTES || edge % sizeof(uintptr_t))
        return NULL;
    const struct torch_node *const node = *(const struct torch_node *const *)edge;
    for (unsigned i = 0; node && i < LAYOUT_COUNT; i++)
        if (node->words[layouts[i].number] + 1 == now.made &&
            node->words[layouts[i].thread] == now.own_thread)
            return node;
    return NULL;
}

/* Writes the node of this thread's operator with a stack, unless the trace has it. */
static GMT_UNUSED void note_silent_node(void)
{
    const int saved_errno = errno;
    now.silent_left--;
    const struct node_name node = {now.made, now.own_thread};
    struct hooked_call call;
    if (hooked_call_begin(&call, HOOK_autograd, EVENT_AUTOGRAD_NODE, MEMORY_NONE)) {
        const struct event_args args = node_event(node, false);
        if (must_write(call.thread, node, false))
            hooked_call_store(&call, &args, 0);
        hooked_call_leave(&call);
    }
    errno = saved_errno;
}

/* Is the node of this thread's operator missing in the trace? */
static GMT_UNUSED bool is_silent(void)
{
    return now.made && now.own_thread && now.silent_left &&
           (now.made != now.written.number || now.own_thread != now.written.thread);
}

/* --- hooks --- */

#if GMT_PASSES_CALLS_ON

/* uint64_t at::sequence_number::get_and_increment(), called when a node is made */
TORCH_FUNCTION(uint64_t, _ZN2at15sequence_number17get_and_incrementEv, (void), "libtorch_cpu.so",
               return 0, {
                   const uint64_t number = real();
                   now.made = number + 1;
                   raise_to(&highest_number, number + 1);
                   return number;
               })

/* uint64_t at::RecordFunction::currentThreadId(), called when a node is made, and by profilers */
TORCH_FUNCTION(uint64_t, _ZN2at14RecordFunction15currentThreadIdEv, (void), "libtorch_cpu.so",
               return 0, {
                   now.own_thread = real();
                   raise_to(&highest_thread, now.own_thread);
                   return now.own_thread;
               })

/* void set_gradient_edge(const Variable &, Edge), called for each result of an operator, to connect
 * it to the node */
TORCH_FUNCTION(struct torch_words,
               _ZN5torch8autograd4impl17set_gradient_edgeERKN2at6TensorENS0_4EdgeE, (TORCH_WORDS),
               "libtorch_cpu.so", return ((struct torch_words){0, 0}), {
                   const struct torch_node *const node = is_silent() ? node_made(b) : NULL;
                   if (node && !node_only_views(node))
                       note_silent_node();
                   now.made = 0;
                   return real(a, b, c, d, e, f);
               })

/* rebase_history(const Variable &, Edge), called for the result of an operator that changes its
 * input in place */
TORCH_FUNCTION(struct torch_words, _ZN5torch8autograd4impl14rebase_historyERKN2at6TensorENS0_4EdgeE,
               (TORCH_WORDS), "libtorch_cpu.so", return ((struct torch_words){0, 0}), {
                   if (is_silent())
                       note_silent_node();
                   now.made = 0;
                   return real(a, b, c, d, e, f);
               })

/* void Engine::evaluate_function(std::shared_ptr<GraphTask> &, Node *, InputBuffer &, const
 * std::shared_ptr<ReadyQueue> &); an evaluation may run another backward pass inside */
TORCH_FUNCTION(
    void,
    _ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEEPNS0_4NodeERNS0_11InputBufferERKS2_INS0_10ReadyQueueEE,
    (void *engine, void *task, const struct torch_node *node, void *inputs, const void *queue),
    "libtorch_cpu.so", return, {
        const struct evaluation around = now.evaluation;
        now.evaluation = (struct evaluation){name_of(node), (uintptr_t)&around};
        now.made = 0;
        real(engine, task, node, inputs, queue);
        now.evaluation = around;
        now.made = 0;
    })

#endif
