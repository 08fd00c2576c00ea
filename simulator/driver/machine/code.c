/* SPDX-License-Identifier: MIT */
/*
 * The size of code and the modules that hold it. See code.h. A module takes whole granules.
 */
#include "code.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The wrapper that nvcc puts around an image, as in fatbinary_section.h. */
#define WRAPPER_MAGIC 0x466243b1

struct wrapper {
    int magic, version;
    const void *data;
    void *more;
};

bool code_is_eager(void)
{
    const char *mode = getenv("CUDA_MODULE_LOADING");
    return mode && !strcmp(mode, "EAGER");
}

/* Compares byte by byte: an image may be shorter than the magic. */
static bool begins_with(const void *image, const void *magic, size_t magic_bytes)
{
    const unsigned char *is = image, *wanted = magic;
    for (size_t i = 0; i < magic_bytes; i++)
        if (is[i] != wanted[i])
            return false;
    return true;
}

static uint64_t elf_bytes(const void *image)
{
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    return header.e_shoff + (uint64_t)header.e_shnum * header.e_shentsize;
}

/* A cubin's header gives its size and PTX ends with a zero byte; any other image counts as the
 * smallest. */
uint64_t code_image_bytes(const void *image)
{
    const int wrapper_magic = WRAPPER_MAGIC;
    const unsigned char *bytes = image;
    struct wrapper wrapper;
    if (begins_with(image, ELFMAG, SELFMAG))
        return elf_bytes(image);
    if (begins_with(image, &wrapper_magic, sizeof wrapper_magic)) {
        memcpy(&wrapper, image, sizeof wrapper);
        return wrapper.data ? code_image_bytes(wrapper.data) : 1;
    }
    return *bytes < 0x80 ? strlen(image) : 1;
}

int code_file_bytes(const char *path, uint64_t *size_bytes)
{
    struct stat status;
    if (stat(path, &status))
        return -1;
    *size_bytes = (uint64_t)status.st_size;
    return 0;
}

/* --- modules --- */

static void module_end(void *object)
{
    struct module *module = object;
    device_discharge(module->object.context->device, module->held_bytes);
}

CUresult code_load(struct context *context, const struct library *library, uint64_t size_bytes,
                   struct module **result)
{
    uint64_t held_bytes;
    if (round_up_overflows(size_bytes ? size_bytes : 1, GRANULE_BYTES, &held_bytes) ||
        device_charge(context->device, held_bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct module *module = object_new(OBJECT_MODULE, context, sizeof *module);
    if (!module) {
        device_discharge(context->device, held_bytes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    module->object.end = module_end;
    module->library = library;
    module->held_bytes = held_bytes;
    *result = module;
    return CUDA_SUCCESS;
}

CUresult code_module_of(struct context *context, const struct library *library,
                        struct module **result)
{
    for (struct object *object = context->objects; object; object = object->next) {
        struct module *module = (void *)object;
        if (object->kind == OBJECT_MODULE && module->library == library) {
            *result = module;
            return CUDA_SUCCESS;
        }
    }
    return code_load(context, library, library->size_bytes, result);
}

struct beginning {
    struct context *context;
    CUresult result;
};

static void load_library(void *object, void *data)
{
    struct beginning *beginning = data;
    struct module *module;
    if (!beginning->result)
        beginning->result = code_module_of(beginning->context, object, &module);
}

CUresult code_begin_context(struct context *context)
{
    struct beginning beginning = {context, CUDA_SUCCESS};
    if (code_is_eager())
        object_for_each(OBJECT_LIBRARY, load_library, &beginning);
    return beginning.result;
}
