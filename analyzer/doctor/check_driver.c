/* SPDX-License-Identifier: MIT */
/*
 * Checks NVIDIA's driver and its device files. A machine without them is fine, because dry runs
 * need neither.
 */
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "child.h"

enum {
    NO_DEVICE = 100,
    NOT_INITIALIZED = 3,
    SYSTEM_NOT_READY = 802,
    DRIVER_MISMATCH = 803,
    NAME_BYTES = 128,
};

struct driver {
    bool is_loaded;
    int result, count, version;
    char name[NAME_BYTES], path[PATH_MAX];
};

static void start_driver(void *answer, const void *about)
{
    struct driver *driver = answer;
    int (*init)(unsigned), (*count)(int *), (*version)(int *), (*name)(char *, int, int);
    Dl_info place;
    (void)about;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    driver->is_loaded = library != NULL;
    if (!library)
        return;
    *(void **)&init = dlsym(library, "cuInit");
    *(void **)&count = dlsym(library, "cuDeviceGetCount");
    *(void **)&version = dlsym(library, "cuDriverGetVersion");
    *(void **)&name = dlsym(library, "cuDeviceGetName");
    if (!init || !count || !version || !name) {
        driver->result = NOT_INITIALIZED;
        return;
    }
    if (dladdr(*(void **)&init, &place) && place.dli_fname)
        snprintf(driver->path, sizeof driver->path, "%s", place.dli_fname);
    version(&driver->version);
    driver->result = init(0);
    if (!driver->result)
        driver->result = count(&driver->count);
    if (!driver->result && driver->count)
        name(driver->name, sizeof driver->name, 0);
}

static bool has_kernel_module(void)
{
    return !access("/proc/driver/nvidia/version", F_OK);
}

/* --- the checks --- */

/* Returns the command that starts such a container with the host's driver and cards. */
static const char *way_to_give_cards(const char *container)
{
    if (!strcmp(container, "Podman"))
        return "podman run --device nvidia.com/gpu=all …";
    if (!strcmp(container, "Apptainer") || !strcmp(container, "Singularity"))
        return "apptainer exec --nv …";
    if (!strcmp(container, "Kubernetes"))
        return "kubectl edit pod …    # resources: limits: nvidia.com/gpu: 1";
    return "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility …";
}

static void say_no_library(struct finding *finding, const struct checkup *checkup)
{
    if (!has_kernel_module()) {
        finding_note(finding, "there is no NVIDIA driver here, so nothing runs on a card");
        return;
    }
    finding_wrong(finding,
                  "the kernel has NVIDIA's module, but libcuda.so.1 is not found: CUDA programs "
                  "see no card");
    finding_mend(finding, "%s",
                 checkup->container
                     ? way_to_give_cards(checkup->container)
                     : "sudo apt-get install libcuda1    # of the module's version: cat "
                       "/proc/driver/nvidia/version");
}

static void say_refused(struct finding *finding, const struct checkup *checkup, int result)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    switch (result) {
    case NO_DEVICE:
        finding_wrong(finding, "the driver finds no card (cuInit: 100%s)",
                      visible ? ", CUDA_VISIBLE_DEVICES is set" : "");
        finding_mend(finding, "%s",
                     visible              ? "unset CUDA_VISIBLE_DEVICES"
                     : checkup->container ? way_to_give_cards(checkup->container)
                                          : "nvidia-smi    # and: sudo dmesg | grep -i nvrm");
        return;
    case SYSTEM_NOT_READY:
        finding_wrong(finding, "the cards' NVSwitch is not ready (cuInit: 802)");
        finding_mend(finding, "sudo systemctl start nvidia-fabricmanager");
        return;
    case DRIVER_MISMATCH:
        finding_wrong(finding, "libcuda.so.1 and the kernel's module are of two versions (cuInit: "
                               "803), as after an update");
        finding_mend(finding, "sudo reboot    # or: sudo rmmod nvidia_uvm nvidia_drm "
                              "nvidia_modeset nvidia && sudo modprobe nvidia_uvm");
        return;
    default:
        finding_wrong(finding, "the driver does not start (cuInit: %d)", result);
        finding_mend(finding, "nvidia-smi    # and: sudo dmesg | grep -i nvrm");
    }
}

void check_driver(struct finding *finding, struct checkup *checkup)
{
    struct driver driver = {0};
    if (!child_ask(start_driver, NULL, &driver, sizeof driver)) {
        finding_wrong(finding, "the driver ended, or took half a minute, in cuInit");
        finding_mend(finding, "nvidia-smi    # and: sudo dmesg | grep -i nvrm");
    } else if (!driver.is_loaded) {
        say_no_library(finding, checkup);
    } else if (driver.result || !driver.count) {
        say_refused(finding, checkup, driver.result ? driver.result : NO_DEVICE);
    } else {
        checkup->has_driver = true;
        finding_fine(finding, "driver for CUDA %d.%d (%.200s), %d card%s: %s",
                     driver.version / 1000, driver.version % 1000 / 10, driver.path, driver.count,
                     driver.count == 1 ? "" : "s", driver.name);
    }
}

/* Checks the permissions of the device files, because the driver's errors do not mention them. */
void check_devices(struct finding *finding, struct checkup *checkup)
{
    glob_t found = {0};
    const char *refused = NULL;
    (void)checkup;
    glob("/dev/nvidia*", GLOB_NOSORT, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc && !refused; i++)
        if (access(found.gl_pathv[i], R_OK | W_OK) && errno == EACCES)
            refused = found.gl_pathv[i];
    if (refused) {
        finding_wrong(finding, "%.200s may not be opened by this user", refused);
        finding_mend(finding,
                     "sudo usermod -aG \"$(stat -c %%G %.200s)\" \"$USER\"    # then log in again",
                     refused);
    } else if (found.gl_pathc && access("/dev/nvidia-uvm", F_OK)) {
        finding_wrong(finding, "/dev/nvidia-uvm is missing, without which CUDA does not start");
        finding_mend(finding, "sudo nvidia-modprobe -u -c=0");
    } else if (found.gl_pathc) {
        finding_fine(finding, "the files of the cards in /dev may be opened");
    }
    globfree(&found);
}
