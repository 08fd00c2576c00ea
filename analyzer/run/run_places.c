/* SPDX-License-Identifier: MIT */
/* Finds the recorder's library and the simulator; see run_places.h. */
#include "run_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_link.h"

static const char *const library_names[] = {
    "libgpumemtrace.so",
    "../lib/gpumemtrace/libgpumemtrace.so",
    "../lib/libgpumemtrace.so",
};

static const char *const simulator_names[] = {
    "simulator",
    "../lib/gpumemtrace/simulator",
};

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

static int find_own_folder(char folder[PATH_MAX], struct err *err)
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);
    if (length < 0 || length == PATH_MAX - 1)
        return err_set(err, ERR_SYSTEM, "cannot find this executable through /proc/self/exe: %s",
                       length < 0 ? strerror(errno) : "its path is too long");
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0'; /* the kernel gives an absolute path */
    return 0;
}

static int find(char path[PATH_MAX], const char *folder, const char *const *names, size_t count,
                bool is_folder, struct err *err)
{
    char candidate[2 * PATH_MAX];
    for (size_t i = 0; i < count; i++) {
        snprintf(candidate, sizeof candidate, "%s/%s", folder, names[i]);
        if (realpath(candidate, path))
            break;
        path[0] = '\0';
    }
    if (!path[0])
        return err_set(err, ERR_SYSTEM,
                       "%s is neither in %.200s nor in ../lib of it; is the build whole?",
                       is_folder ? "the simulator" : "libgpumemtrace.so", folder);
    return run_link_is_plain(path) ? 0 : run_link_make(path, is_folder, err);
}

int run_places_find(struct run_places *places, int with_simulator, struct err *err)
{
    char folder[PATH_MAX];
    places->simulator[0] = '\0';
    if (find_own_folder(folder, err) ||
        find(places->library, folder, library_names, LENGTH(library_names), false, err))
        return -1;
    if (!with_simulator)
        return 0;
    return find(places->simulator, folder, simulator_names, LENGTH(simulator_names), true, err);
}
