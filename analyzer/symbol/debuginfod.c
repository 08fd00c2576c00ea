/* SPDX-License-Identifier: MIT */
/* libdebuginfod, loaded when needed; see debuginfod.h. */
#include "debuginfod.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#define LIBRARY "libdebuginfod.so.1"
#define SERVERS "DEBUGINFOD_URLS"

/* Signatures of elfutils/debuginfod.h. Length 0 means that the build-id is hexadecimal text. */
typedef void *begin_function(void);
typedef void end_function(void *client);
typedef int find_function(void *client, const unsigned char *build_id, int length, char **path);

struct debuginfod {
    void *library, *client;
    end_function *end;
    find_function *find_debuginfo, *find_executable;
};

static int load_library(struct debuginfod *debuginfod, struct err *err)
{
    debuginfod->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!debuginfod->library)
        return err_set(err, ERR_SYSTEM, "--debuginfod: %s (on Debian: libdebuginfod1)", dlerror());
    begin_function *begin =
        GMT_FUNCTION(begin_function *, dlsym(debuginfod->library, "debuginfod_begin"));
    debuginfod->end = GMT_FUNCTION(end_function *, dlsym(debuginfod->library, "debuginfod_end"));
    debuginfod->find_debuginfo =
        GMT_FUNCTION(find_function *, dlsym(debuginfod->library, "debuginfod_find_debuginfo"));
    debuginfod->find_executable =
        GMT_FUNCTION(find_function *, dlsym(debuginfod->library, "debuginfod_find_executable"));
    if (begin && debuginfod->end && debuginfod->find_debuginfo && debuginfod->find_executable)
        debuginfod->client = begin();
    if (!debuginfod->client)
        err_set(err, ERR_SYSTEM, "--debuginfod: %s cannot be used", LIBRARY);
    return debuginfod->client ? 0 : -1;
}

struct debuginfod *debuginfod_new(struct err *err)
{
    const char *servers = getenv(SERVERS);
    if (!servers || !*servers) {
        err_set(err, ERR_USAGE, "--debuginfod: %s names no server", SERVERS);
        return NULL;
    }
    struct debuginfod *debuginfod = calloc(1, sizeof *debuginfod);
    if (!debuginfod)
        err_set(err, ERR_SYSTEM, "out of memory for the names of frames");
    if (debuginfod && !load_library(debuginfod, err))
        return debuginfod;
    debuginfod_free(debuginfod);
    return NULL;
}

void debuginfod_free(struct debuginfod *debuginfod)
{
    if (!debuginfod)
        return;
    if (debuginfod->client)
        debuginfod->end(debuginfod->client);
    if (debuginfod->library)
        dlclose(debuginfod->library);
    free(debuginfod);
}

void debuginfod_forbid(void)
{
    unsetenv(SERVERS);
}

char *debuginfod_fetch(struct debuginfod *debuginfod, const char *build_id)
{
    const unsigned char *hex = (const unsigned char *)build_id;
    char *path = NULL;
    int file = debuginfod->find_debuginfo(debuginfod->client, hex, 0, &path);
    if (file < 0)
        file = debuginfod->find_executable(debuginfod->client, hex, 0, &path);
    if (file < 0)
        return NULL;
    close(file);
    return path;
}
