/* SPDX-License-Identifier: MIT */
/* Adds a few stacks to a tree of frames. */
#include "analyzer/symbol/frame_tree.h"
#include "tests/unit/unit_test.h"

enum { MAIN = 7, FORWARD, BACKWARD, LINEAR };

TEST(stacks_share_the_nodes_of_their_common_callers)
{
    struct frame_tree tree = {0};
    const uint32_t top = frame_tree_add(&tree, FRAME_TREE_NONE, MAIN, NULL);
    const uint32_t forward = frame_tree_add(&tree, top, FORWARD, NULL);
    assert_int_equal(frame_tree_add(&tree, FRAME_TREE_NONE, MAIN, NULL), top);
    assert_int_equal(frame_tree_add(&tree, top, FORWARD, NULL), forward);
    assert_int_equal(tree.count, 2);
    assert_int_equal(tree.nodes[forward].outer, top);
    assert_int_equal(tree.nodes[forward].frame, FORWARD);
    assert_int_equal(tree.nodes[top].outer, FRAME_TREE_NONE);
    frame_tree_release(&tree);
}

TEST(a_frame_below_two_callers_is_two_nodes)
{
    struct frame_tree tree = {0};
    const uint32_t top = frame_tree_add(&tree, FRAME_TREE_NONE, MAIN, NULL);
    const uint32_t forward = frame_tree_add(&tree, top, FORWARD, NULL);
    const uint32_t backward = frame_tree_add(&tree, top, BACKWARD, NULL);
    assert_int_not_equal(frame_tree_add(&tree, forward, LINEAR, NULL),
                         frame_tree_add(&tree, backward, LINEAR, NULL));
    assert_int_equal(tree.count, 5);
    frame_tree_release(&tree);
}

TEST(children_are_listed_in_the_order_in_which_they_were_added)
{
    struct frame_tree tree = {0};
    const uint32_t top = frame_tree_add(&tree, FRAME_TREE_NONE, MAIN, NULL);
    uint32_t at;
    for (uint64_t frame = 1000; frame > 500; frame--)
        frame_tree_add(&tree, top, frame, NULL);
    frame_tree_add(&tree, top, 700, NULL);
    at = tree.nodes[top].first;
    for (uint64_t frame = 1000; frame > 500; frame--, at = tree.nodes[at].next)
        assert_int_equal(tree.nodes[at].frame, frame);
    assert_int_equal(at, 0);
    assert_int_equal(tree.nodes[tree.nodes[top].last].frame, 501);
    frame_tree_release(&tree);
}

UNIT_MAIN(NULL, NULL)
