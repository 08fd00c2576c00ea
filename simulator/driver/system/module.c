/* SPDX-License-Identifier: MIT */
/*
 * API functions that load and unload modules and libraries. The simulator does not read code;
 * code.h gives the size of code.
 */
#include "simulator/driver/machine/call.h"
#include "simulator/driver/machine/code.h"
#include "gpumemtrace/compiler.h"

/* --- modules --- */

static CUresult module_load(const char *function, CUmodule *handle, const void *image)
{
    struct call call;
    struct module *module = NULL;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && call_requires(&call, handle && image))
        call.result = code_load(call.context, NULL, code_image_bytes(image), &module);
    if (module)
        *handle = (CUmodule)(void *)module;
    return call_end(&call);
}

CUresult cuModuleLoad(CUmodule *handle, const char *path)
{
    struct call call;
    struct module *module = NULL;
    uint64_t size_bytes;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT) && call_requires(&call, handle && path))
        call.result = code_file_bytes(path, &size_bytes)
                          ? CUDA_ERROR_FILE_NOT_FOUND
                          : code_load(call.context, NULL, size_bytes, &module);
    if (module)
        *handle = (CUmodule)(void *)module;
    return call_end(&call);
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    return module_load(__func__, module, image);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image,
                            GMT_UNUSED unsigned int option_count, GMT_UNUSED CUjit_option *options,
                            GMT_UNUSED void **values)
{
    return module_load(__func__, module, image);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    return module_load(__func__, module, image);
}

/* Handles of the module's functions stay valid until the context ends. A library's module can be
 * unloaded only with the library. */
CUresult cuModuleUnload(CUmodule handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        struct module *module = object_find(handle, OBJECT_MODULE);
        if (module && !module->library)
            object_delete(module);
        else
            call.result = CUDA_ERROR_INVALID_HANDLE;
    }
    return call_end(&call);
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, mode != NULL))
        *mode = code_is_eager() ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
    return call_end(&call);
}

/* Variables are never found, because code is not read. */
static CUresult get_variable(const char *function, const void *owner, enum object_kind owner_kind,
                             const char *name)
{
    struct call call;
    if (call_begin(&call, function, CALL_NEEDS_CONTEXT) && call_requires(&call, name != NULL))
        call.result =
            object_find(owner, owner_kind) ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_INVALID_HANDLE;
    return call_end(&call);
}

CUresult cuModuleGetGlobal_v2(GMT_UNUSED CUdeviceptr *address, GMT_UNUSED size_t *size_bytes,
                              CUmodule module, const char *name)
{
    return get_variable(__func__, module, OBJECT_MODULE, name);
}

/* --- libraries --- */

struct loading {
    const struct library *library;
    CUresult result;
};

static void load_into(void *object, void *data)
{
    struct context *context = object;
    struct loading *loading = data;
    struct module *module;
    if (context->alive && !loading->result)
        loading->result = code_module_of(context, loading->library, &module);
}

static bool is_of_library(const void *object, const void *library)
{
    return ((const struct module *)object)->library == library;
}

static bool is_kernel_of(const void *object, const void *library)
{
    return ((const struct function *)object)->owner == library;
}

static void library_delete(struct library *library)
{
    void *part;
    while ((part = object_find_if(OBJECT_MODULE, is_of_library, library)))
        object_delete(part);
    while ((part = object_find_if(OBJECT_FUNCTION, is_kernel_of, library)))
        object_delete(part);
    object_delete(library);
}

static CUresult library_new(uint64_t size_bytes, CUlibrary *handle)
{
    struct library *library = object_new(OBJECT_LIBRARY, NULL, sizeof *library);
    struct loading loading = {library, CUDA_SUCCESS};
    if (!library)
        return CUDA_ERROR_OUT_OF_MEMORY;
    library->size_bytes = size_bytes;
    if (code_is_eager())
        object_for_each(OBJECT_CONTEXT, load_into, &loading);
    if (loading.result)
        library_delete(library);
    else
        *handle = (CUlibrary)(void *)library;
    return loading.result;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *image, GMT_UNUSED CUjit_option *options,
                           GMT_UNUSED void **values, GMT_UNUSED unsigned int option_count,
                           GMT_UNUSED CUlibraryOption *library_options,
                           GMT_UNUSED void **library_values,
                           GMT_UNUSED unsigned int library_option_count)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, library && image))
        call.result = library_new(code_image_bytes(image), library);
    return call_end(&call);
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path,
                               GMT_UNUSED CUjit_option *options, GMT_UNUSED void **values,
                               GMT_UNUSED unsigned int option_count,
                               GMT_UNUSED CUlibraryOption *library_options,
                               GMT_UNUSED void **library_values,
                               GMT_UNUSED unsigned int library_option_count)
{
    struct call call;
    uint64_t size_bytes;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT) && call_requires(&call, library && path))
        call.result = code_file_bytes(path, &size_bytes) ? CUDA_ERROR_FILE_NOT_FOUND
                                                         : library_new(size_bytes, library);
    return call_end(&call);
}

CUresult cuLibraryUnload(CUlibrary handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_INIT)) {
        struct library *library = object_find(handle, OBJECT_LIBRARY);
        if (library)
            library_delete(library);
        else
            call.result = CUDA_ERROR_INVALID_HANDLE;
    }
    return call_end(&call);
}

CUresult cuLibraryGetModule(CUmodule *handle, CUlibrary library_handle)
{
    struct call call;
    if (call_begin(&call, __func__, CALL_NEEDS_CONTEXT) && call_requires(&call, handle != NULL)) {
        const struct library *library = object_find(library_handle, OBJECT_LIBRARY);
        struct module *module = NULL;
        call.result =
            library ? code_module_of(call.context, library, &module) : CUDA_ERROR_INVALID_HANDLE;
        if (module)
            *handle = (CUmodule)(void *)module;
    }
    return call_end(&call);
}

CUresult cuLibraryGetGlobal(GMT_UNUSED CUdeviceptr *address, GMT_UNUSED size_t *size_bytes,
                            CUlibrary library, const char *name)
{
    return get_variable(__func__, library, OBJECT_LIBRARY, name);
}

CUresult cuLibraryGetManaged(GMT_UNUSED CUdeviceptr *address, GMT_UNUSED size_t *size_bytes,
                             CUlibrary library, const char *name)
{
    return get_variable(__func__, library, OBJECT_LIBRARY, name);
}
