/* SPDX-License-Identifier: MIT */
/*
 * Names of memory that processes share. A name is a struct with everything that an importer needs.
 * Programs pass a name as an IPC handle or in a memfd. Only the exporter is charged for the memory.
 *
 *     magic | what | process | object's number | part's number | bytes | card's index | pid
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#pragma once

#include <stdbool.h>

#include "api.h"

struct device;

enum share_kind {
    SHARE_BLOCK,    /* from cuMemAlloc, for cuIpcOpenMemHandle */
    SHARE_PHYSICAL, /* from cuMemCreate */
    SHARE_POOL,
    SHARE_PIECE /* an allocation from a pool */
};

struct share_name {
    char magic[8];
    uint32_t kind;
    int32_t pid;
    uint64_t process; /* tells processes with the same pid apart */
    uint64_t id;      /* the object's id in its process */
    uint64_t piece_id;
    uint64_t size_bytes;
    int32_t device_index; /* -1: memory of the host */
    uint32_t handle_types;
};

/* Returns a name with its common members filled in. */
struct share_name share_name_of(enum share_kind kind, uint64_t id, uint64_t size_bytes,
                                const struct device *device);
/* Reads a name from bytes of any alignment. false: not a name of this kind. */
bool share_read(const void *bytes, enum share_kind kind, struct share_name *name);
bool share_is_own(const struct share_name *name);
bool share_is_exporter_alive(const struct share_name *name);
bool share_is_same(const struct share_name *a, const struct share_name *b);
/* Returns the device with the memory; NULL: the device is not visible to this process, or the
 * memory is host memory. */
struct device *share_device(const struct share_name *name);

/* Finds the location of the memory, on a device or the host; CUDA_ERROR_NOT_SUPPORTED: the device
 * is not visible to this process. */
CUresult share_location(const struct share_name *name, CUmemLocation *location);

/* Returns a new file descriptor for the name; -1: the system call failed, see errno. */
int share_export(const struct share_name *name);
bool share_import(int descriptor, enum share_kind kind, struct share_name *name);
