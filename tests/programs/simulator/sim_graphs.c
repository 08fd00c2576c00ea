/* SPDX-License-Identifier: MIT */
/* link: cuda */
/*
 * Tests graphs with memory nodes on the simulated driver: when nodes get addresses and memory, who
 * may free this memory, and how much stays reserved. The numbers of sections are those of the CUDA
 * Driver API; "Graph Memory Nodes" is a section of the CUDA Programming Guide.
 */
#include <stdint.h>

#include "sim_device.h"

static CUstream stream;
static CUgraph graph;

static void begin(void)
{
    begin_cuda();
    EXPECT(cuStreamCreate(&stream, 0), 0);
    EXPECT(cuGraphCreate(&graph, 0), 0);
}

static cuuint64_t get(CUgraphMem_attribute attribute)
{
    cuuint64_t value = UINT64_MAX;
    EXPECT(cuDeviceGetGraphMemAttribute(0, attribute, &value), 0);
    return value;
}

static void expect_memory(cuuint64_t used, cuuint64_t reserved)
{
    EXPECT(get(CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), used);
    EXPECT(get(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), reserved);
}

static CUDA_MEM_ALLOC_NODE_PARAMS parameters_for(size_t size_bytes)
{
    return (CUDA_MEM_ALLOC_NODE_PARAMS){
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytesize = size_bytes,
    };
}

/* Adds an allocation node and stores it in *node. If *node is not NULL, the new node depends on
   it. */
static CUdeviceptr add_alloc(CUgraph to, CUgraphNode *node, size_t size_bytes)
{
    CUDA_MEM_ALLOC_NODE_PARAMS parameters = parameters_for(size_bytes);
    const CUgraphNode before = *node;
    EXPECT(cuGraphAddMemAllocNode(node, to, &before, before != NULL, &parameters), 0);
    CHECK(parameters.dptr);
    return parameters.dptr;
}

static void add_free(CUgraph to, CUgraphNode *node, CUdeviceptr address)
{
    const CUgraphNode before = *node;
    EXPECT(cuGraphAddMemFreeNode(node, to, &before, before != NULL, address), 0);
}

static CUgraphExec instantiate(CUgraph from, unsigned long long flags)
{
    CUgraphExec exec;
    EXPECT(cuGraphInstantiateWithFlags(&exec, from, flags), 0);
    return exec;
}

/* 6.24 Graph Management, cuGraphAddMemAllocNode: the node gets its address when it is added, and
   keeps this address. Graph Memory Nodes: the node has memory from the launch on. */
PART(a_node_has_addresses_and_its_launch_memory)
{
    CUgraphNode node = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS told;
    begin();
    const size_t before = free_bytes();
    const CUdeviceptr address = add_alloc(graph, &node, 10 * MIB);
    EXPECT(free_bytes(), before);
    expect_memory(0, 0);
    EXPECT(cuMemsetD8_v2(address, 0, 1), CUDA_ERROR_INVALID_VALUE); /* not live */
    const CUgraphExec exec = instantiate(graph, 0);
    EXPECT(free_bytes(), before);
    EXPECT(cuGraphLaunch(exec, stream), 0);
    EXPECT(free_bytes(), before - 10 * MIB);
    expect_memory(10 * MIB, 10 * MIB);
    EXPECT(cuMemsetD8_v2(address, 0, 10 * MIB), 0);
    EXPECT(cuGraphMemAllocNodeGetParams(node, &told), 0);
    EXPECT(told.dptr, address);
    EXPECT(told.bytesize, 10 * MIB);
}

/* 6.24, cuGraphAddMemAllocNode: CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_SUPPORTED. */
PART(an_allocation_node_says_what_it_wants)
{
    CUDA_MEM_ALLOC_NODE_PARAMS parameters = parameters_for(0);
    CUgraphNode node = (CUgraphNode)&node;
    begin();
    EXPECT(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &parameters), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuGraphAddMemAllocNode(&node, graph, NULL, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    parameters = parameters_for(MIB);
    EXPECT(cuGraphAddMemAllocNode(NULL, graph, NULL, 0, &parameters), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuGraphAddMemAllocNode(&node, NULL, NULL, 0, &parameters), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuGraphAddMemAllocNode(&node, graph, NULL, 1, &parameters), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuGraphAddMemAllocNode(&node, graph, &node, 1, &parameters), CUDA_ERROR_INVALID_VALUE);
    parameters.poolProps.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    EXPECT(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &parameters), CUDA_ERROR_INVALID_VALUE);
    parameters = parameters_for(MIB);
    parameters.poolProps.location.type = CU_MEM_LOCATION_TYPE_HOST;
    EXPECT(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &parameters), CUDA_ERROR_NOT_SUPPORTED);
    parameters.poolProps.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 7};
    EXPECT(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &parameters), CUDA_ERROR_INVALID_VALUE);
    EXPECT(parameters.dptr, 0);
    CHECK(node == (CUgraphNode)&node);
}

/* 6.24, cuGraphAddNode and its second form: adds any kind of node and returns an allocation's
 * address in the parameters. */
PART(a_node_is_added_by_its_parameters)
{
    CUgraphNodeParams parameters = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    CUgraphNode node, last;
    begin();
    parameters.alloc.poolProps = parameters_for(MIB).poolProps;
    parameters.alloc.bytesize = MIB;
    EXPECT(cuGraphAddNode(&node, graph, NULL, 0, &parameters), 0);
    const CUdeviceptr address = parameters.alloc.dptr;
    CHECK(address);
    parameters = (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_MEM_FREE};
    parameters.free.dptr = address;
    EXPECT(cuGraphAddNode_v2(&last, graph, &node, NULL, 1, &parameters), 0);
    EXPECT(cuGraphAddNode_v2(&last, graph, &node, NULL, 1, &parameters), CUDA_ERROR_INVALID_VALUE);
    parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    EXPECT(cuGraphAddNode(&last, graph, NULL, 0, &parameters), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT(cuGraphAddNode(&last, graph, NULL, 0, NULL), CUDA_ERROR_INVALID_VALUE);
}

/* Graph Memory Nodes, optimized memory reuse: a node reuses memory that another has freed. */
PART(what_is_freed_in_the_graph_is_used_again_in_it)
{
    CUgraphNode node = NULL;
    begin();
    const size_t before = free_bytes();
    for (int i = 0; i < 5; i++)
        add_free(graph, &node, add_alloc(graph, &node, 8 * MIB));
    const CUgraphExec exec = instantiate(graph, 0);
    for (int i = 0; i < 3; i++) {
        EXPECT(cuGraphLaunch(exec, stream), 0);
        expect_memory(8 * MIB, 8 * MIB);
        EXPECT(free_bytes(), before - 8 * MIB);
    }
    EXPECT(cuGraphExecDestroy(exec), 0);
    expect_memory(0, 8 * MIB);
    EXPECT(cuDeviceGraphMemTrim(0), 0);
    EXPECT(free_bytes(), before);
}

/* Graph Memory Nodes, physical memory management: graphs that do not run concurrently share
   physical memory. */
PART(graphs_share_what_is_reserved)
{
    CUgraph other;
    CUgraphNode node = NULL, last = NULL;
    begin();
    add_free(graph, &node, add_alloc(graph, &node, 6 * MIB));
    EXPECT(cuGraphCreate(&other, 0), 0);
    add_free(other, &last, add_alloc(other, &last, 10 * MIB));
    const CUgraphExec first = instantiate(graph, 0), second = instantiate(other, 0);
    EXPECT(cuGraphLaunch(first, stream), 0);
    expect_memory(6 * MIB, 6 * MIB);
    EXPECT(cuGraphLaunch(second, stream), 0);
    expect_memory(10 * MIB, 10 * MIB);
    EXPECT(cuGraphLaunch(first, stream), 0);
    expect_memory(10 * MIB, 10 * MIB);
    EXPECT(cuGraphExecDestroy(second), 0);
    expect_memory(6 * MIB, 10 * MIB);
}

/* 6.24, cuDeviceGraphMemTrim: unused memory is released; live allocations are in use. */
PART(trimming_leaves_what_is_alive)
{
    CUgraphNode node = NULL;
    begin();
    const size_t before = free_bytes();
    const CUdeviceptr kept = add_alloc(graph, &node, 4 * MIB);
    add_free(graph, &node, add_alloc(graph, &node, 6 * MIB));
    const CUgraphExec exec = instantiate(graph, 0);
    EXPECT(cuGraphLaunch(exec, stream), 0);
    expect_memory(10 * MIB, 10 * MIB);
    EXPECT(cuDeviceGraphMemTrim(0), 0);
    expect_memory(4 * MIB, 4 * MIB);
    EXPECT(free_bytes(), before - 4 * MIB);
    EXPECT(cuMemFree_v2(kept), 0);
    expect_memory(0, 4 * MIB);
    EXPECT(cuDeviceGraphMemTrim(0), 0);
    EXPECT(free_bytes(), before);
    EXPECT(cuDeviceGraphMemTrim(9), CUDA_ERROR_INVALID_DEVICE);
}

/* 6.24, cuGraphAddMemAllocNode: freed by cuMemFreeAsync or cuMemFree. cuGraphLaunch: fails while
 * an allocation of an earlier launch is live. */
PART(what_a_launch_leaves_is_freed_outside_before_the_next)
{
    CUgraphNode node = NULL;
    begin();
    const CUdeviceptr address = add_alloc(graph, &node, MIB);
    const CUgraphExec exec = instantiate(graph, 0);
    EXPECT(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE); /* not live yet */
    EXPECT(cuGraphLaunch(exec, stream), 0);
    EXPECT(cuGraphLaunch(exec, stream), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemFreeAsync(address, stream), 0);
    EXPECT(cuMemFreeAsync(address, stream), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuGraphLaunch(exec, stream), 0);
    EXPECT(cuMemFree_v2(address), 0);
    expect_memory(MIB, 2 * MIB);
}

/* 6.24, cuGraphAddMemAllocNode: CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH. */
PART(a_launch_frees_what_the_last_one_left_where_it_is_told_to)
{
    CUgraphNode node = NULL;
    cuuint64_t flags = 0;
    begin();
    const CUdeviceptr address = add_alloc(graph, &node, 4 * MIB);
    const CUgraphExec exec = instantiate(graph, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    EXPECT(cuGraphExecGetFlags(exec, &flags), 0);
    EXPECT(flags, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    for (int i = 0; i < 3; i++)
        EXPECT(cuGraphLaunch(exec, stream), 0);
    EXPECT(cuGraphExecDestroy(exec), 0);
    expect_memory(4 * MIB, 4 * MIB);
    EXPECT(cuMemFree_v2(address), 0);
    EXPECT(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
    expect_memory(0, 4 * MIB);
}

/* 6.24, cuGraphAddMemFreeNode: refuses a second free in a graph, memory of no allocation node, and
 * NULL; and cuGraphAddMemAllocNode: freed in the owning graph or in another, never in both. */
PART(an_allocation_is_freed_in_one_place)
{
    CUgraphNode node = NULL, other_node = NULL, failed = NULL;
    CUgraph other;
    CUdeviceptr plain;
    begin();
    EXPECT(cuGraphCreate(&other, 0), 0);
    EXPECT(cuMemAlloc_v2(&plain, MIB), 0);
    const CUdeviceptr inside = add_alloc(graph, &node, MIB);
    const CUdeviceptr outside = add_alloc(graph, &node, MIB);
    EXPECT(cuGraphAddMemFreeNode(&failed, graph, NULL, 0, plain), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuGraphAddMemFreeNode(&failed, graph, NULL, 0, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuGraphAddMemFreeNode(&failed, graph, NULL, 0, inside + 512), CUDA_ERROR_INVALID_VALUE);
    add_free(graph, &node, inside);
    EXPECT(cuGraphAddMemFreeNode(&failed, graph, NULL, 0, inside), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuGraphAddMemFreeNode(&failed, other, NULL, 0, inside), CUDA_ERROR_INVALID_VALUE);
    add_free(other, &other_node, outside);
    EXPECT(cuGraphAddMemFreeNode(&failed, other, NULL, 0, outside), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuGraphAddMemFreeNode(&failed, graph, NULL, 0, outside), CUDA_ERROR_INVALID_VALUE);
    CHECK(!failed);
}

/* 6.24, cuGraphAddMemAllocNode: by launching a graph with a free node for it. */
PART(one_graph_frees_what_another_allocated)
{
    CUgraphNode node = NULL, other_node = NULL;
    CUgraph other;
    CUdeviceptr told = 0;
    begin();
    const CUdeviceptr address = add_alloc(graph, &node, 2 * MIB);
    EXPECT(cuGraphCreate(&other, 0), 0);
    add_free(other, &other_node, address);
    EXPECT(cuGraphMemFreeNodeGetParams(other_node, &told), 0);
    EXPECT(told, address);
    EXPECT(cuGraphMemFreeNodeGetParams(node, &told), CUDA_ERROR_INVALID_VALUE);
    const CUgraphExec first = instantiate(graph, 0), second = instantiate(other, 0);
    EXPECT(cuGraphLaunch(second, stream), CUDA_ERROR_INVALID_VALUE); /* not live */
    for (int i = 0; i < 2; i++) {
        EXPECT(cuGraphLaunch(first, stream), 0);
        EXPECT(cuGraphLaunch(second, stream), 0);
    }
    EXPECT(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
}

/* Graph Memory Nodes: destroying a graph does not free live allocations. */
PART(memory_outlives_its_graph)
{
    CUgraphNode node = NULL;
    CUmemorytype type;
    begin();
    const size_t before = free_bytes();
    const CUdeviceptr address = add_alloc(graph, &node, 2 * MIB);
    const CUgraphExec exec = instantiate(graph, 0);
    EXPECT(cuGraphLaunch(exec, stream), 0);
    EXPECT(cuGraphDestroy(graph), 0);
    EXPECT(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuGraphExecDestroy(exec), 0);
    EXPECT(cuGraphExecDestroy(exec), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address), 0);
    expect_memory(2 * MIB, 2 * MIB);
    EXPECT(cuMemsetD8_v2(address, 1, 2 * MIB), 0);
    EXPECT(cuMemFree_v2(address), 0);
    EXPECT(cuDeviceGraphMemTrim(0), 0);
    EXPECT(free_bytes(), before);
    EXPECT(cuMemsetD8_v2(address, 1, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address),
           CUDA_ERROR_INVALID_VALUE);
}

/* 6.24, cuGraphAddMemAllocNode, the restrictions: such a graph has one instantiation at a time,
   its nodes cannot be removed, and it cannot be cloned. It can be a child graph only if the parent
   gets ownership. */
PART(a_graph_with_memory_nodes_is_restricted)
{
    CUgraphNode node = NULL, first, child;
    CUgraph copy, parent;
    CUgraphExec second;
    CUgraphNodeParams move = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    begin();
    const CUdeviceptr address = add_alloc(graph, &node, MIB);
    first = node;
    add_free(graph, &node, address);
    EXPECT(cuGraphDestroyNode(node), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuGraphRemoveDependencies(graph, &first, &node, 1), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuGraphClone(&copy, graph), CUDA_ERROR_NOT_SUPPORTED);
    const CUgraphExec exec = instantiate(graph, 0);
    EXPECT(cuGraphInstantiateWithFlags(&second, graph, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuGraphExecDestroy(exec), 0);
    EXPECT(cuGraphCreate(&parent, 0), 0);
    EXPECT(cuGraphAddChildGraphNode(&child, parent, NULL, 0, graph), CUDA_ERROR_NOT_SUPPORTED);
    move.graph = (CUDA_CHILD_GRAPH_NODE_PARAMS){graph, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE};
    EXPECT(cuGraphAddNode(&child, parent, NULL, 0, &move), 0);
    EXPECT(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE); /* now owned by its parent */
    EXPECT(cuGraphLaunch(instantiate(parent, 0), stream), 0);
    expect_memory(MIB, 2 * MIB);
}

/* 6.24, cuGraphUpload and CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD: takes memory without running the
 * graph. */
PART(an_upload_takes_the_memory_of_the_launch)
{
    CUDA_GRAPH_INSTANTIATE_PARAMS parameters = {.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD};
    CUgraphNode node = NULL;
    CUgraphExec exec;
    begin();
    const CUdeviceptr address = add_alloc(graph, &node, 4 * MIB);
    exec = instantiate(graph, 0);
    EXPECT(cuGraphUpload(exec, stream), 0);
    expect_memory(4 * MIB, 4 * MIB);
    EXPECT(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuGraphLaunch_ptsz(exec, NULL), 0);
    expect_memory(4 * MIB, 4 * MIB);
    EXPECT(cuMemFree_v2(address), 0);
    EXPECT(cuGraphExecDestroy(exec), 0);
    EXPECT(cuDeviceGraphMemTrim(0), 0);
    EXPECT(cuGraphInstantiateWithParams(&exec, graph, &parameters), 0);
    EXPECT(parameters.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
    expect_memory(4 * MIB, 4 * MIB);
}

/* 6.24, cuDeviceGetGraphMemAttribute and cuDeviceSetGraphMemAttribute. */
PART(high_water_marks_start_again_at_0_only)
{
    CUgraphNode node = NULL;
    cuuint64_t zero = 0, one = 1;
    begin();
    add_free(graph, &node, add_alloc(graph, &node, 4 * MIB));
    const CUgraphExec exec = instantiate(graph, 0);
    EXPECT(cuGraphLaunch(exec, stream), 0);
    EXPECT(cuGraphExecDestroy(exec), 0);
    EXPECT(get(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), 4 * MIB);
    EXPECT(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero), 0);
    EXPECT(get(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), 0);
    EXPECT(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &zero), 0);
    EXPECT(get(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH), 4 * MIB); /* still reserved */
    EXPECT(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &one),
           CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuDeviceSetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &zero),
           CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuDeviceGetGraphMemAttribute(9, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &one),
           CUDA_ERROR_INVALID_DEVICE);
    EXPECT(cuDeviceGetGraphMemAttribute(0, (CUgraphMem_attribute)9, &one),
           CUDA_ERROR_INVALID_VALUE);
}

/* 6.24, cuGraphLaunch: has no effect when out of memory. */
PART(a_launch_without_memory_has_no_effect)
{
    CUgraphNode node = NULL;
    CUdeviceptr most;
    begin();
    const CUdeviceptr address = add_alloc(graph, &node, 8 * MIB);
    const CUgraphExec exec = instantiate(graph, 0);
    EXPECT(cuMemAlloc_v2(&most, free_bytes() - 4 * MIB), 0);
    EXPECT(cuGraphLaunch(exec, stream), CUDA_ERROR_OUT_OF_MEMORY);
    expect_memory(0, 0);
    EXPECT(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuMemFree_v2(most), 0);
    EXPECT(cuGraphLaunch(exec, stream), 0);
}

static int order[8], calls;

static void note(void *number)
{
    order[calls++] = *(int *)number;
}

/* 6.24, cuGraphAddHostNode, cuGraphAddDependencies, cuGraphInstantiate: nodes run after their
 * dependencies; a cycle cannot be instantiated. */
PART(nodes_run_in_the_order_of_their_edges)
{
    static int numbers[3] = {0, 1, 2};
    CUgraphNode nodes[3], listed[4];
    CUgraphExec exec;
    size_t count = 4;
    begin();
    for (int i = 0; i < 3; i++) {
        const CUDA_HOST_NODE_PARAMS host = {note, &numbers[i]};
        EXPECT(cuGraphAddHostNode(&nodes[i], graph, NULL, 0, &host), 0);
    }
    EXPECT(cuGraphAddDependencies(graph, &nodes[2], &nodes[1], 1), 0); /* 1 waits for 2 */
    EXPECT(cuGraphAddDependencies(graph, &nodes[1], &nodes[0], 1), 0);
    EXPECT(cuGraphGetRootNodes(graph, listed, &count), 0);
    EXPECT(count, 1);
    CHECK(listed[0] == nodes[2] && !listed[3]);
    EXPECT(cuGraphLaunch(instantiate(graph, 0), stream), 0);
    EXPECT(calls, 3);
    CHECK(order[0] == 2 && order[1] == 1 && order[2] == 0);
    EXPECT(cuGraphAddDependencies(graph, &nodes[0], &nodes[2], 1), 0);
    EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuGraphDestroyNode(nodes[0]), 0);
    EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    EXPECT(cuGraphGetNodes(graph, NULL, &count), 0);
    EXPECT(count, 2);
}

/* 6.24, cuGraphClone, cuGraphGetEdges, cuGraphNodeGetType, cuGraphExecUpdate. */
PART(a_graph_of_other_nodes_can_be_copied_and_looked_at)
{
    const CUDA_MEMSET_NODE_PARAMS fill = {0x1000, 0, 0, 1, 16, 1};
    CUgraphExecUpdateResultInfo result;
    CUgraphNode empty, filler, from = NULL, to = NULL;
    CUgraphNodeType type;
    CUgraph copy, child;
    size_t count = 1;
    begin();
    EXPECT(cuGraphAddEmptyNode(&empty, graph, NULL, 0), 0);
    EXPECT(cuGraphAddMemsetNode(&filler, graph, &empty, 1, &fill, context), 0);
    EXPECT(cuGraphNodeGetType(filler, &type), 0);
    EXPECT(type, CU_GRAPH_NODE_TYPE_MEMSET);
    EXPECT(cuGraphClone(&copy, graph), 0);
    EXPECT(cuGraphDestroy(graph), 0);
    EXPECT(cuGraphGetEdges(copy, &from, &to, &count), 0);
    EXPECT(count, 1);
    EXPECT(cuGraphNodeGetType(to, &type), 0);
    EXPECT(type, CU_GRAPH_NODE_TYPE_MEMSET);
    EXPECT(cuGraphNodeGetDependencies(to, NULL, &count), 0);
    EXPECT(count, 1);
    EXPECT(cuGraphCreate(&graph, 0), 0);
    EXPECT(cuGraphAddChildGraphNode(&empty, graph, NULL, 0, copy), 0);
    EXPECT(cuGraphChildGraphNodeGetGraph(empty, &child), 0);
    CHECK(child != copy);
    EXPECT(cuGraphDestroy(child), CUDA_ERROR_INVALID_VALUE);
    EXPECT(cuGraphExecUpdate_v2(instantiate(copy, 0), graph, &result), 0);
    EXPECT(result.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    EXPECT(cuGraphAddEmptyNode(&empty, graph, NULL, 0), 0);
    EXPECT(cuGraphExecUpdate_v2(instantiate(copy, 0), graph, &result),
           CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    EXPECT(result.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
}

SIM_MAIN()
