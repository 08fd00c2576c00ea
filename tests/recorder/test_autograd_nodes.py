# SPDX-License-Identifier: MIT
"""The recorder learns the autograd node of a tensor from functions that PyTorch's libraries call through the loader. A
library with the same function names stands in for PyTorch. Its nodes have the members that several releases have."""
import pytest

from support.run import compile_library

C10 = """
struct device { signed char type, index; };
void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(
    void *p, long size, unsigned long a, unsigned long r, struct device d) { }
void _ZN3c1026reportOutOfMemoryToProfilerElmmNS_6DeviceE(long size, unsigned long a, unsigned long r, struct device d) { }
"""

TORCH = """
#include <stdint.h>
#include <stdlib.h>
struct device { signed char type, index; };
struct node { uint64_t words[10]; };
int cudaMalloc(void **p, unsigned long bytes);
void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(
    void *p, long size, unsigned long a, unsigned long r, struct device d);

#define NEXT _ZN2at15sequence_number17get_and_incrementEv
#define THREAD _ZN2at14RecordFunction15currentThreadIdEv
#define MADE _ZN5torch8autograd4impl17set_gradient_edgeERKN2at6TensorENS0_4EdgeE
#define REBASED _ZN5torch8autograd4impl14rebase_historyERKN2at6TensorENS0_4EdgeE
#define EVALUATE _ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEEPNS0_4NodeERNS0_11InputBufferERKS2_INS0_10ReadyQueueEE

static uint64_t next;
static int made, evaluated;
uint64_t NEXT(void) { return next++; }
uint64_t THREAD(void) { return 1; }
void MADE(const void *variable, void *edge) { made += variable == (void *)3 && edge == (void *)4; }
struct rebased { void *words[3]; }; /* 2.6 returns nothing; 2.15 an object, in memory that its caller names */
struct rebased REBASED(const void *variable, void *edge)
{
    made += 10 * (variable == (void *)3 && edge == (void *)4);
    return (struct rebased){{edge, edge, edge}};
}
void EVALUATE(void *engine, void *task, struct node *node, void (*inputs)(struct node *), const void *queue)
{
    evaluated += engine == (void *)1 && task == (void *)2 && queue == (void *)5;
    inputs(node);
}

static char *free_place;
static void take(int name) /* the size tells the test which it is */
{
    _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(free_place, name * 512, 0, 0, (struct device){1, 0});
    free_place += name * 512;
}
static struct node *make(struct node *node)
{
    for (int i = 0; i < 10; i++)
        node->words[i] = UINT64_MAX / 3; /* a pointer, anything */
    node->words[@NUMBER@] = NEXT();
    node->words[@NUMBER@ + 1] = 4;
    node->words[@NUMBER@ + 2] = 0x7f01; /* a bool, and what was there */
    node->words[@NUMBER@ + 3] = THREAD();
    return node;
}
static void takes_six(struct node *node) { take(6); }
static void takes_seven(struct node *node)
{
    struct node inner;
    take(7);
    EVALUATE((void *)1, (void *)2, node - 1, takes_six, (void *)5); /* a backward inside */
    take(8);
    make(&inner); /* a forward inside, as a checkpoint's */
    take(9);
    MADE((void *)3, (void *)4);
    take(10);
}
int run(void)
{
    struct node nodes[3], leaf;
    char *segment;
    if (cudaMalloc((void **)&segment, 20 << 20))
        return -1;
    free_place = segment;
    take(1);
    make(&nodes[0]);
    take(2);
    take(3);
    MADE((void *)3, (void *)4);
    take(4);
    make(&nodes[1]);
    take(5);
    if (REBASED((void *)3, (void *)4).words[2] != (void *)4)
        return -2;
    make(&nodes[2]); /* allocates nothing */
    MADE((void *)3, (void *)4);
    leaf = nodes[0];
    leaf.words[@NUMBER@] = UINT64_MAX;
    EVALUATE((void *)1, (void *)2, &nodes[1], takes_seven, (void *)5);
    take(11);
    EVALUATE((void *)1, (void *)2, &leaf, takes_six, (void *)5);
    EVALUATE((void *)1, (void *)2, &nodes[2], takes_six, (void *)5);
    return made + 100 * evaluated;
}

/* Operators that allocate nothing. A class is a table of virtual functions behind the address of its type, whose second word
 * is the name. */
struct edge { const struct node *node; unsigned index; };
struct class { const char *type[2]; const void *table[1]; const char *functions[1]; };
#define CLASS(name, mangled) static const struct class name = {{0, mangled}, {name.type}, {0}}
CLASS(slice, "N5torch8autograd9generated14SliceBackward0E");
CLASS(view, "N5torch8autograd9generated13ViewBackward0E");
CLASS(transpose, "N5torch8autograd9generated18TransposeBackward0E");
CLASS(tanh, "N5torch8autograd9generated13TanhBackward0E");
CLASS(other, "17TransposeBackward");
static void connect(const struct class *class, const struct node *older)
{
    struct node node;
    struct edge edge = {older ? older : &node, 0};
    make(&node)->words[0] = (uint64_t)class->functions;
    MADE((void *)3, &edge);
}
int silent(void)
{
    struct node node, older;
    char *segment;
    if (cudaMalloc((void **)&segment, 20 << 20))
        return -1;
    free_place = segment;
    connect(&slice, 0); /* node 1: before the thread's first tensor */
    take(1);
    connect(&view, 0);
    connect(&slice, 0); /* node 3 */
    connect(&transpose, 0);
    connect(&tanh, 0);              /* node 5 */
    connect(&other, 0);             /* node 6 */
    connect(&slice, make(&older));  /* an edge to an older node */
    make(&node);
    REBASED((void *)3, (void *)4);  /* node 9 */
    make(&node);
    take(2);
    REBASED((void *)3, (void *)4);  /* node 10 has a tensor */
    for (int i = 0; i < 5000; i++)
        connect(&slice, 0);
    return 0;
}
"""
ROWS = (
    "SELECT CASE kind WHEN 'alloc' THEN size_bytes / 512 ELSE '' END, object, address, size_bytes FROM events"
    " WHERE kind = 'autograd-node' OR memory = 'tensor' ORDER BY seq"
)


def nodes_of(recording):
    """Returns [(tensor, (node, thread of the node, whether it is a backward))]."""
    now, found = (0, 0, 0), []
    for tensor, number, thread, backward in recording.rows(ROWS):
        if tensor == "":
            now = (number, thread, backward)
        else:
            found.append((tensor, now))
    return found


@pytest.fixture
def torch(tmp_path, build, program):
    def make(number, function="run"):
        c10 = compile_library(tmp_path / "libc10.so", C10, "-w", "-Wl,-soname,libc10.so")
        library = compile_library(
            tmp_path / "libtorch_cpu.so", TORCH.replace("@NUMBER@", str(number)), c10,
            build / "simulator/libcudart.so.12", "-w", "-Wl,-rpath,$ORIGIN",
        )  # fmt: skip
        return program("plugins"), f"local:{library}:{function}"

    return make


NONE, FORWARD, BACKWARD = (0, 0, 0), 0, 1
FORWARDS = [(1, NONE), (2, (1, 1, FORWARD)), (3, (1, 1, FORWARD)), (4, NONE), (5, (2, 1, FORWARD))]


@pytest.mark.parametrize("number", [3, 2])
def test_tensors_are_tied_to_the_node_of_their_operator_and_of_the_backward(torch, record, number):
    recording = record(*torch(number), check=False)
    assert recording.completed.stdout == "run 413\n"
    assert nodes_of(recording) == [
        *FORWARDS,
        (7, (2, 1, BACKWARD)), (6, (1, 1, BACKWARD)), (8, (2, 1, BACKWARD)), (9, (4, 1, FORWARD)), (10, (2, 1, BACKWARD)),
        (11, NONE), (6, (0, 0, BACKWARD)), (6, (3, 1, BACKWARD)),
    ]  # fmt: skip


def test_an_event_comes_only_where_the_node_changes_and_a_tensor_is_taken(torch, record):
    rows = record(*torch(3), check=False).rows(
        "SELECT api, count(*) FROM events WHERE kind = 'autograd-node' GROUP BY 1"
    )
    assert rows == [("autograd", 11)]


def test_a_node_with_other_members_has_no_name(torch, record):
    recording = record(*torch(5), check=False)
    assert recording.completed.stdout == "run 413\n"
    assert nodes_of(recording)[:5] == FORWARDS
    assert {node for _, node in nodes_of(recording)[5:]} == {(0, 0, BACKWARD), (4, 1, FORWARD), NONE}


def test_a_node_without_a_tensor_comes_with_a_stack_unless_its_backward_only_views(torch, record):
    recording = record(*torch(3, "silent"), check=False)
    assert recording.completed.stdout == "silent 0\n"
    rows = recording.rows("SELECT object, address, size_bytes, stack_id > 0 FROM events WHERE kind = 'autograd-node' ORDER BY seq")
    assert rows[:5] == [(3, 1, FORWARD, 1), (5, 1, FORWARD, 1), (6, 1, FORWARD, 1), (9, 1, FORWARD, 1), (10, 1, FORWARD, None)]
    assert [row[0] for row in rows[5:]] == list(range(11, 11 + 4096))  # no more until the next tensor
