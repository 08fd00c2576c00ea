/* SPDX-License-Identifier: MIT */
/*
 * Checking and copying memory. See copy_side.h.
 */
#include "copy_side.h"

#include <string.h>

#include "simulator/driver/machine/block.h"
#include "simulator/driver/machine/contents.h"
#include "simulator/driver/machine/operation.h"
#include "gpumemtrace/compiler.h"
#include "graph_memory.h"
#include "simulator/driver/machine/host.h"
#include "vmm.h"

/* Adjacent mappings count as one range. Other blocks must contain the whole range. */
static CUresult check_block(const struct block *block, uint64_t address, uint64_t size_bytes)
{
    for (;;) {
        const uint64_t left_bytes = block->size_bytes - (address - block->address);
        if (size_bytes <= left_bytes)
            return CUDA_SUCCESS;
        address += left_bytes;
        size_bytes -= left_bytes;
        const struct block *next = block_at(address);
        if (block->kind != BLOCK_MAPPED || !next || next->kind != BLOCK_MAPPED)
            return CUDA_ERROR_INVALID_VALUE;
        block = next;
    }
}

CUresult copy_side_check(uint64_t address, uint64_t size_bytes, bool *is_host)
{
    const struct block *block = block_containing(address);
    *is_host = block ? block_is_host(block) : true;
    if (!size_bytes)
        return CUDA_SUCCESS;
    if (block && block->kind == BLOCK_GRAPH && !block->allocation->is_live)
        return CUDA_ERROR_INVALID_VALUE;
    if (block)
        return check_block(block, address, size_bytes);
    if (!address || device_owns_address(address) || vmm_is_reserved(address))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* The distance from the box's first byte to its end. -1: overflows 64 bits. */
static int box_reach(const struct copy_side *place, const struct box *box, uint64_t *size_bytes)
{
    uint64_t rows_bytes, slices_bytes;
    return GMT_MUL_OVERFLOWS(box->height - 1, place->pitch_bytes, &rows_bytes) ||
                   GMT_MUL_OVERFLOWS(box->depth - 1, place->slice_bytes, &slices_bytes) ||
                   GMT_ADD_OVERFLOWS(rows_bytes, slices_bytes, size_bytes) ||
                   GMT_ADD_OVERFLOWS(*size_bytes, box->width_bytes, size_bytes)
               ? -1
               : 0;
}

CUresult copy_side_check_box(struct copy_side *place, const struct box *box)
{
    uint64_t size_bytes;
    if (!box->width_bytes || !box->height || !box->depth)
        return CUDA_SUCCESS;
    if ((box->height > 1 && place->pitch_bytes < box->width_bytes) ||
        box_reach(place, box, &size_bytes))
        return CUDA_ERROR_INVALID_VALUE;
    return copy_side_check(place->address, size_bytes, &place->is_host);
}

/* Copies one row that the host reads. Unknown bytes read as 0, unless the operator in progress has
 * set a value for the reading. */
static void read_row(void *to, uint64_t from, uint64_t size_bytes)
{
    enum contents_state state = CONTENTS_UNKNOWN;
    if (operation_answer(to, size_bytes))
        return;
    if (operation_reads_contents())
        state = contents_read(from, size_bytes, to);
    else
        memset(to, 0, size_bytes);
    if (state != CONTENTS_KNOWN)
        operation_count_reading();
}

static void write_row(uint64_t to, const void *from, uint64_t size_bytes)
{
    if (size_bytes <= CONTENTS_COPY_BYTES_MAX)
        contents_write(to, size_bytes, from, CONTENTS_KNOWN);
    else
        contents_forget(to, size_bytes);
}

static void copy_row(const struct copy_side *to, const struct copy_side *from,
                     uint64_t to_offset_bytes, uint64_t from_offset_bytes, uint64_t width_bytes)
{
    const uint64_t target = to->address + to_offset_bytes;
    const uint64_t source = from->address + from_offset_bytes;
    if (to->is_host && from->is_host)
        memmove(host_pointer(target), host_pointer(source), width_bytes);
    else if (to->is_host)
        read_row(host_pointer(target), source, width_bytes);
    else if (from->is_host)
        write_row(target, host_pointer(source), width_bytes);
    else
        contents_copy(target, source, width_bytes);
}

/* Contents of arrays are not kept, because an array has no address: writes are lost, reads are
 * unknown. */
void copy_side_copy(const struct copy_side *to, const struct copy_side *from, const struct box *box)
{
    if (!to->address)
        return;
    for (uint64_t z = 0; z < box->depth; z++)
        for (uint64_t y = 0; y < box->height; y++)
            copy_row(to, from, z * to->slice_bytes + y * to->pitch_bytes,
                     z * from->slice_bytes + y * from->pitch_bytes, box->width_bytes);
}
