/* SPDX-License-Identifier: MIT */
/*
 * Names by which processes know each other's memory. A name is plain bytes that say all an importer
 * needs; it travels as an IPC handle or in a file of its own that a descriptor stands for. What an
 * importer opens is its exporter's memory: it takes none of the device's.
 *
 *     magic | what | process | object's number | part's number | bytes | card's index | pid
 *
 * Not thread-safe: the simulator's lock covers it.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_SHARE_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_MACHINE_SHARE_H

#include <stdbool.h>

#include "api.h"

struct device;

enum share_kind {
    SHARE_BLOCK,    /* cuMemAlloc's, for cuIpcOpenMemHandle */
    SHARE_PHYSICAL, /* cuMemCreate's */
    SHARE_POOL,
    SHARE_PIECE /* of a pool */
};

struct share_name {
    char magic[8];
    uint32_t kind;
    int32_t pid;
    uint64_t process; /* tells processes apart that had the same pid */
    uint64_t id;      /* of the object in its process */
    uint64_t piece_id;
    uint64_t size_bytes;
    int32_t device_index; /* -1: memory of the host */
    uint32_t handle_types;
};

/* Filled in but for what the caller says of the object. */
struct share_name share_name_of(enum share_kind kind, uint64_t id, uint64_t size_bytes,
                                const struct device *device);
/* What the bytes name; false: nothing of this kind. They need not be aligned. */
bool share_read(const void *bytes, enum share_kind kind, struct share_name *name);
bool share_is_own(const struct share_name *name);
bool share_is_exporter_alive(const struct share_name *name);
bool share_is_same(const struct share_name *a, const struct share_name *b);
/* The card it is on, as this process sees it; NULL: not visible, or no card's. */
struct device *share_device(const struct share_name *name);

/* The same as a location, the host's included; CUDA_ERROR_NOT_SUPPORTED: not visible. */
CUresult share_location(const struct share_name *name, CUmemLocation *location);

/* A new descriptor that stands for the name; -1: the system has none left. */
int share_export(const struct share_name *name);
bool share_import(int descriptor, enum share_kind kind, struct share_name *name);

#endif
