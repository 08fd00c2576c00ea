/* SPDX-License-Identifier: MIT */
/* The default memory limit: a quarter of the machine's memory or of the lowest cgroup limit,
 * whichever is less. */
#include <unistd.h>

#include "analyzer/load/memory_limit.h"
#include "tests/unit/made_folder.h"

#define MIB ((uint64_t)1 << 20)

static uint64_t machine_bytes(void)
{
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

TEST_WITH(without_cgroups_it_is_a_quarter_of_the_machine, set_up, tear_down)
{
    assert_int_equal(memory_limit_default(root), machine_bytes() / 4);
    put("proc/self/cgroup", "0::/a\n");
    put("sys/fs/cgroup/a/memory.max", "max\n");
    assert_int_equal(memory_limit_default(root), machine_bytes() / 4);
}

TEST_WITH(the_least_of_a_cgroup_and_those_around_it_counts, set_up, tear_down)
{
    put("proc/self/cgroup", "1:name=systemd:/x\n0::/a/b/c\n");
    put("sys/fs/cgroup/a/b/c/memory.max", "max\n");
    put("sys/fs/cgroup/a/memory.max", "104857600\n");
    put("sys/fs/cgroup/x/memory.max", "4096\n");
    assert_int_equal(memory_limit_default(root), 25 * MIB);
}

TEST_WITH(the_first_version_of_cgroups_counts_too, set_up, tear_down)
{
    put("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/a/b\n0::/\n");
    put("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
    put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "41943040\n");
    assert_int_equal(memory_limit_default(root), 10 * MIB);
}

TEST_WITH(in_a_container_the_outermost_folder_has_the_limit, set_up, tear_down)
{
    put("proc/self/cgroup", "4:memory:/docker/0123\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "41943040\n");
    assert_int_equal(memory_limit_default(root), 10 * MIB);
}

UNIT_MAIN(NULL, NULL)
