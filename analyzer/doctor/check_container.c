/* SPDX-License-Identifier: MIT */
/* Checks whether this process runs in a container, and how much memory the container may use. */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "analyzer/render/units.h"
#include "common/cgroup.h"

/* Returns the kind of container, or NULL if none is recognized. */
static const char *find_container(void)
{
    static const struct {
        const char *path, *variable, *name;
    } signs[] = {
        {"/.dockerenv", NULL, "Docker"},
        {"/run/.containerenv", NULL, "Podman"},
        {NULL, "APPTAINER_NAME", "Apptainer"},
        {NULL, "SINGULARITY_NAME", "Singularity"},
        {NULL, "KUBERNETES_SERVICE_HOST", "Kubernetes"},
        {NULL, "container", "container"},
    };
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if ((signs[i].path && !access(signs[i].path, F_OK)) ||
            (signs[i].variable && getenv(signs[i].variable)))
            return signs[i].name;
    return NULL;
}

void check_container(struct finding *finding, struct checkup *checkup)
{
    struct cgroup cgroup;
    checkup->container = find_container();
    const bool is_limited = cgroup_find(&cgroup, "") && cgroup.limit_bytes != CGROUP_UNKNOWN;
    if (!is_limited && !checkup->container)
        return;
    if (!is_limited) {
        finding_fine(finding, "in a container (%s), without a limit of memory", checkup->container);
        return;
    }
    const uint64_t current_bytes = cgroup_figure(&cgroup, CGROUP_CURRENT_BYTES);
    finding_fine(finding, "in a %s%s%s, whose memory is limited to %s, of which %s are in use",
                 checkup->container ? "container (" : "cgroup",
                 checkup->container ? checkup->container : "", checkup->container ? ")" : "",
                 BYTES_TEXT(cgroup.limit_bytes),
                 current_bytes == CGROUP_UNKNOWN ? "some" : BYTES_TEXT(current_bytes));
}
