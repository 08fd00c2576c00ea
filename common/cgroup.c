/* SPDX-License-Identifier: MIT */
/*
 * See cgroup.h.
 */
#include "cgroup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "numbers.h"
#include "own_fd.h"

#define NO_LIMIT ((uint64_t)1 << 62) /* for no limit, version 1 has the largest page count */

enum { FILE_BYTES = 8192 }; /* for /proc/self/cgroup and for the files of figures */

static const struct {
    const char *file[2]; /* the file's name in version 2 and in version 1 */
    const char *word;    /* stands before the figure; NULL: the figure stands alone */
} figures[] = {
    [CGROUP_CURRENT_BYTES] = {{"memory.current", "memory.usage_in_bytes"}, NULL},
    [CGROUP_PEAK_BYTES] = {{"memory.peak", "memory.max_usage_in_bytes"}, NULL},
    [CGROUP_OOM_KILLS] = {{"memory.events", "memory.oom_control"}, "oom_kill "},
};

/* Returns false if the file does not exist or is empty. */
static bool read_file(const char *path, char text[FILE_BYTES])
{
    struct own_file file;
    const int fd = own_fd_open(path, O_RDONLY, 0, &file);
    if (fd < 0)
        return false;
    const ssize_t length = read(fd, text, FILE_BYTES - 1);
    close(fd);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

static uint64_t number_in(const char *text)
{
    uint64_t number;
    return *text >= '0' && *text <= '9' && digits_read(text, &number) ? number : CGROUP_UNKNOWN;
}

static uint64_t read_limit(const char *folder, bool is_first_version)
{
    char path[PATH_MAX + 32], text[FILE_BYTES];
    snprintf(path, sizeof path, "%s/%s", folder,
             is_first_version ? "memory.limit_in_bytes" : "memory.max");
    const uint64_t limit = read_file(path, text) ? number_in(text) : CGROUP_UNKNOWN;
    return limit < NO_LIMIT ? limit : CGROUP_UNKNOWN;
}

static bool is_there(const char *folder, bool is_first_version)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/%s", folder,
             figures[CGROUP_CURRENT_BYTES].file[is_first_version]);
    return access(path, R_OK) == 0;
}

/* Looks at the folder and its parents, up to the mount. In a container the path may be one of the
 * host; then only the outermost folder exists. */
static void look_at_folders(struct cgroup *cgroup, const char *mount, char *path,
                            bool is_first_version)
{
    for (;;) {
        char folder[PATH_MAX];
        const int length = snprintf(folder, sizeof folder, "%s%s", mount, path);
        const uint64_t limit = read_limit(folder, is_first_version);
        const bool is_first = !*cgroup->folder && is_there(folder, is_first_version);
        if (length < PATH_MAX && (is_first || limit < cgroup->limit_bytes)) {
            memcpy(cgroup->folder, folder, (size_t)length + 1);
            cgroup->is_first_version = is_first_version;
            cgroup->limit_bytes = limit < cgroup->limit_bytes ? limit : cgroup->limit_bytes;
        }
        if (length < PATH_MAX && is_first)
            memcpy(cgroup->own_folder, folder, (size_t)length + 1);
        char *slash = strrchr(path, '/');
        if (!slash)
            return;
        *slash = '\0';
    }
}

/* Reads a line of /proc/self/cgroup: "4:memory:/path", or "0::/path" for all controllers. */
static void look_at_line(struct cgroup *cgroup, const char *root, char *line)
{
    char mount[PATH_MAX];
    char *controllers = strchr(line, ':'),
         *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path)
        return;
    *path++ = '\0';
    const bool is_first_version = controllers[1] != '\0';
    if (is_first_version && !strstr(controllers, "memory"))
        return;
    snprintf(mount, sizeof mount, "%s/sys/fs/cgroup%s", root, is_first_version ? "/memory" : "");
    look_at_folders(cgroup, mount, path, is_first_version);
}

bool cgroup_find(struct cgroup *cgroup, const char *root)
{
    char path[PATH_MAX], text[FILE_BYTES];
    *cgroup = (struct cgroup){.limit_bytes = CGROUP_UNKNOWN};
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (!read_file(path, text))
        return false;
    for (char *line = text, *next; *line; line = next) {
        const size_t length = strcspn(line, "\n");
        next = line + length + (line[length] == '\n');
        line[length] = '\0';
        look_at_line(cgroup, root, line);
    }
    return *cgroup->folder != '\0';
}

void cgroup_file(const struct cgroup *cgroup, enum cgroup_figure figure, char path[PATH_MAX])
{
    const bool is_of_own = figure == CGROUP_OOM_KILLS && *cgroup->own_folder;
    if (snprintf(path, PATH_MAX, "%s/%s", is_of_own ? cgroup->own_folder : cgroup->folder,
                 figures[figure].file[cgroup->is_first_version]) >= PATH_MAX)
        *path = '\0';
}

uint64_t cgroup_figure(const struct cgroup *cgroup, enum cgroup_figure figure)
{
    char path[PATH_MAX], text[FILE_BYTES];
    const char *word = figures[figure].word;
    cgroup_file(cgroup, figure, path);
    if (!read_file(path, text))
        return CGROUP_UNKNOWN;
    const char *at = word ? strstr(text, word) : text;
    return at ? number_in(at + (word ? strlen(word) : 0)) : CGROUP_UNKNOWN;
}
