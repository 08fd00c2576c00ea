/* SPDX-License-Identifier: MIT */
/* A cgroup's figures, read from made-up folders of cgroups v1 and v2. */
#include "common/cgroup.h"
#include "tests/unit/made_folder.h"

TEST_WITH(without_cgroups_nothing_is_known, set_up, tear_down)
{
    struct cgroup cgroup;
    assert_false(cgroup_find(&cgroup, root));
    put("proc/self/cgroup", "2:cpu:/a\n");
    assert_false(cgroup_find(&cgroup, root));
    assert_true(cgroup.limit_bytes == CGROUP_UNKNOWN);
}

TEST_WITH(the_cgroup_with_the_least_limit_counts, set_up, tear_down)
{
    struct cgroup cgroup;
    put("proc/self/cgroup", "0::/a/b\n");
    put("sys/fs/cgroup/a/b/memory.current", "1000\n");
    put("sys/fs/cgroup/a/b/memory.max", "max\n");
    put("sys/fs/cgroup/a/b/memory.events", "low 0\nmax 5\noom 2\noom_kill 1\noom_group_kill 7\n");
    put("sys/fs/cgroup/a/memory.current", "3000\n");
    put("sys/fs/cgroup/a/memory.peak", "3500\n");
    put("sys/fs/cgroup/a/memory.max", "4000\n");
    assert_true(cgroup_find(&cgroup, root));
    assert_int_equal(cgroup.limit_bytes, 4000);
    assert_int_equal(cgroup_figure(&cgroup, CGROUP_CURRENT_BYTES), 3000);
    assert_int_equal(cgroup_figure(&cgroup, CGROUP_PEAK_BYTES), 3500);
    assert_int_equal(cgroup_figure(&cgroup, CGROUP_OOM_KILLS), 1); /* the process's own cgroup */
}

TEST_WITH(without_a_limit_the_process_s_own_cgroup_counts, set_up, tear_down)
{
    struct cgroup cgroup;
    put("proc/self/cgroup", "0::/a/b\n");
    put("sys/fs/cgroup/a/b/memory.current", "1000\n");
    put("sys/fs/cgroup/a/memory.current", "3000\n");
    assert_true(cgroup_find(&cgroup, root));
    assert_true(cgroup.limit_bytes == CGROUP_UNKNOWN);
    assert_int_equal(cgroup_figure(&cgroup, CGROUP_CURRENT_BYTES), 1000);
    assert_true(cgroup_figure(&cgroup, CGROUP_PEAK_BYTES) == CGROUP_UNKNOWN);
    assert_true(cgroup_figure(&cgroup, CGROUP_OOM_KILLS) == CGROUP_UNKNOWN);
}

TEST_WITH(version_1_has_files_of_other_names, set_up, tear_down)
{
    struct cgroup cgroup;
    put("proc/self/cgroup", "9:name=systemd:/x\n4:cpuset,memory:/a\n0::/\n");
    put("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "1000\n");
    put("sys/fs/cgroup/memory/a/memory.max_usage_in_bytes", "1500\n");
    put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "9223372036854771712\n"); /* no limit */
    put("sys/fs/cgroup/memory/a/memory.oom_control",
        "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
    assert_true(cgroup_find(&cgroup, root));
    assert_true(cgroup.limit_bytes == CGROUP_UNKNOWN);
    assert_int_equal(cgroup_figure(&cgroup, CGROUP_CURRENT_BYTES), 1000);
    assert_int_equal(cgroup_figure(&cgroup, CGROUP_PEAK_BYTES), 1500);
    assert_int_equal(cgroup_figure(&cgroup, CGROUP_OOM_KILLS), 3);
}

TEST_WITH(in_a_container_only_the_mount_may_be_there, set_up, tear_down)
{
    struct cgroup cgroup;
    put("proc/self/cgroup", "4:memory:/host/path/of/it\n");
    put("sys/fs/cgroup/memory/memory.usage_in_bytes", "1000\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "2000\n");
    assert_true(cgroup_find(&cgroup, root));
    assert_int_equal(cgroup.limit_bytes, 2000);
    assert_int_equal(cgroup_figure(&cgroup, CGROUP_CURRENT_BYTES), 1000);
}

UNIT_MAIN(NULL, NULL)
