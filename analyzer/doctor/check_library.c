/* SPDX-License-Identifier: MIT */
/* Checks that the recorder's library and the simulator of dry runs exist and can be loaded. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "child.h"

#define INSTALL_AGAIN "make install    # in the tree of gpumemtrace, or install its package again"

/* --- the library --- */

static void say_not_loaded(struct finding *finding, const char *library, char *said, int status)
{
    char word[FINDING_WORD_BYTES];
    if (finding_is_noexec(finding, library))
        return;
    finding_wrong(finding, "%.300s cannot be loaded (status %d): %s", library, status,
                  *said ? child_reason(said) : "the loader gave no reason");
    finding_mend(finding, "ldd %s    # 'not found' names what to install",
                 finding_word(word, library));
}

void check_library(struct finding *finding, struct checkup *checkup)
{
    char said[FINDING_BYTES], preload[2 * PATH_MAX];
    const char *before = getenv("LD_PRELOAD");
    struct err err;
    if (run_places_find(&checkup->places, 0, &err)) {
        checkup->places.library[0] = '\0';
        finding_wrong(finding, "%s", err.message);
        finding_mend(finding, INSTALL_AGAIN);
        return;
    }
    snprintf(preload, sizeof preload, "%s%s%s", checkup->places.library,
             before && *before ? ":" : "", before ? before : "");
    const int status = child_run("--version", preload, said, sizeof said);
    const bool was_refused = strstr(said, checkup->places.library) != NULL;
    if (status || was_refused)
        say_not_loaded(finding, checkup->places.library, said, status);
    else
        finding_fine(finding, "%.300s loads", checkup->places.library);
}

/* --- the simulator --- */

static const char *const simulated[] = {
#define DRIVER(soname) soname,
#define RUNTIME(soname, version) soname,
#define STANDIN(soname, list, symbol_version, runtime) soname,
#include "simulator/libraries.def"
};

enum { NO_DEVICE = 100 };

struct started {
    int result, cards;
    char error[256];
};

static void start_simulator(void *answer, const void *about)
{
    struct started *started = answer;
    int (*init)(unsigned), (*count)(int *);
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/libcuda.so.1", (const char *)about);
    unsetenv("GPUMEMTRACE_SIM");
    void *driver = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!driver) {
        started->result = -1;
        snprintf(started->error, sizeof started->error, "%s", dlerror());
        return;
    }
    *(void **)&init = dlsym(driver, "cuInit");
    *(void **)&count = dlsym(driver, "cuDeviceGetCount");
    started->result = init && count ? init(0) : -1;
    if (!started->result)
        started->result = count(&started->cards);
}

static bool find_all(struct finding *finding, const char *folder)
{
    char path[PATH_MAX + 64];
    for (size_t i = 0; i < sizeof simulated / sizeof *simulated; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, simulated[i]);
        if (!access(path, R_OK))
            continue;
        finding_wrong(finding, "the simulator is not whole: %.300s is missing", path);
        finding_mend(finding, INSTALL_AGAIN);
        return false;
    }
    return true;
}

void check_simulator(struct finding *finding, struct checkup *checkup)
{
    struct run_places places;
    struct started started = {0};
    struct err err;
    if (run_places_find(&places, 1, &err)) {
        finding_wrong(finding, "%s", err.message);
        finding_mend(finding, INSTALL_AGAIN);
        return;
    }
    checkup->places = places;
    if (!find_all(finding, places.simulator))
        return;
    if (!child_ask(start_simulator, places.simulator, &started, sizeof started))
        started.result = -1;
    if ((started.result == NO_DEVICE || !started.cards) && getenv("CUDA_VISIBLE_DEVICES")) {
        finding_wrong(finding, "CUDA_VISIBLE_DEVICES='%.100s' hides all cards, simulated ones too",
                      getenv("CUDA_VISIBLE_DEVICES"));
        finding_mend(finding, "unset CUDA_VISIBLE_DEVICES");
        return;
    }
    if (started.result || !started.cards) {
        finding_wrong(finding, "the simulator does not start: %.200s",
                      *started.error ? started.error : "no reason is known");
        finding_mend(finding, INSTALL_AGAIN);
        return;
    }
    checkup->has_dry_run = true;
    finding_fine(finding, "dry runs work, with or without a GPU: gpumemtrace run --dry-run=16GiB");
}
