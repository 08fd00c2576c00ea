/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Loads an interpreter as a plugin after its first CUDA call, with RTLD_LOCAL:
 *
 *     stack_embedded LIBPYTHON [close [SCRIPT]]
 *
 * The interpreter runs a built-in script, which allocates in "inner", called by "outer". Prints the
 * address of the block. With "close", the program runs SCRIPT, finalizes the interpreter, closes
 * the library and allocates once more. Exits 77 if there is no such library.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"

/* The parts of Python's stable ABI that are used here. */
struct method {
    const char *name;
    void *(*function)(void *self, void *arguments);
    int flags;
    const char *text;
};
enum { NO_ARGUMENTS = 4 };

typedef void initialize_function(void);
typedef void *add_module_function(const char *name);
typedef void *new_function(struct method *method, void *self, void *module);
typedef int set_function(void *object, const char *name, void *value);
typedef int run_function(const char *text, void *flags);
typedef void *none_function(const char *text);
typedef int finalize_function(void);

static void *library;
static void *block;

#define PYTHON(type, name) GMT_FUNCTION(type *, dlsym(library, name))

static void *allocate(void *self, void *arguments)
{
    (void)self, (void)arguments;
    cudaMalloc(&block, 4096);
    return PYTHON(none_function, "PyUnicode_FromString")("done");
}

static int run_script(void)
{
    static struct method method = {"allocate", allocate, NO_ARGUMENTS, NULL};
    PYTHON(initialize_function, "Py_Initialize")();
    void *module = PYTHON(add_module_function, "PyImport_AddModule")("__main__");
    void *function = PYTHON(new_function, "PyCFunction_NewEx")(&method, NULL, NULL);
    PYTHON(set_function, "PyObject_SetAttrString")(module, "allocate", function);
    return PYTHON(run_function, "PyRun_SimpleStringFlags")(
        "def inner():\n    allocate()\ndef outer():\n    inner()\nouter()\n", NULL);
}

int main(int argc, char **argv)
{
    void *before = NULL;
    cudaMalloc(&before, 4096);
    library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 77;
    }
    if (run_script() != 0)
        return 1;
    printf("%lu\n", (unsigned long)block);
    if (argc < 3)
        return 0;
    if (argc > 3 && !dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL)) /* for Python's extension modules */
        return 1;
    if (argc > 3 && PYTHON(run_function, "PyRun_SimpleStringFlags")(argv[3], NULL) != 0)
        return 1;
    if (PYTHON(finalize_function, "Py_FinalizeEx")() != 0 || dlclose(library) != 0)
        return 1;
    return (int)cudaMalloc(&block, 4096);
}
