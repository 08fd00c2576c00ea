/* SPDX-License-Identifier: MIT */
/* Meanings of frames; see frames.h. */
#include "frames.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/util/glob.h"
#include "gpumemtrace/limits.h"

_Static_assert(TORCH_MEANINGS <= 64, "a number has too few bits for all meanings");

#define OPERATORS "at::_ops::"
#define CALL "::call"
#define APPLY "::apply"
#define FORWARD ".forward"

struct rule {
    enum torch_meaning meaning;
    const char *pattern;
};

static const struct rule python_rules[] = {
#define MEANING(name)
#define PYTHON(meaning, pattern) {TORCH_##meaning, pattern},
#define NATIVE(meaning, pattern)
#define OPERATOR(meaning, pattern)
#include "frames.def"
};

static const struct rule native_rules[] = {
#define MEANING(name)
#define PYTHON(meaning, pattern)
#define NATIVE(meaning, pattern) {TORCH_##meaning, pattern},
#define OPERATOR(meaning, pattern) {TORCH_##meaning, OPERATORS pattern "::*"},
#include "frames.def"
};

/* Most rules begin with this, and most files of a program do not contain it. */
static const char package[] = "*/torch/";

static bool is_of_package(const char *pattern)
{
    return !strncmp(pattern, package, sizeof package - 1);
}

uint64_t torch_python_means(const char *file, const char *function)
{
    char subject[2 * LIMIT_text_bytes + sizeof ":"];
    uint64_t means = 0;
    snprintf(subject, sizeof subject, "%s:%s", file, function);
    const bool may_be_of_package = strstr(subject, package + 1);
    for (size_t i = 0; i < sizeof python_rules / sizeof *python_rules; i++)
        if ((may_be_of_package || !is_of_package(python_rules[i].pattern)) &&
            glob_match(python_rules[i].pattern, subject))
            means |= UINT64_C(1) << python_rules[i].meaning;
    return means;
}

uint64_t torch_native_means(const char *function)
{
    uint64_t means = 0;
    for (size_t i = 0; i < sizeof native_rules / sizeof *native_rules; i++)
        if (glob_match(native_rules[i].pattern, function))
            means |= UINT64_C(1) << native_rules[i].meaning;
    return means;
}

/* --- parts of names --- */

/* The part between `before` and `after`, which begin and end the function's name. */
static struct torch_name name_between(const char *function, const char *before, const char *after)
{
    const size_t head = strlen(before), tail = strlen(after), length = strlen(function);
    if (length <= head + tail || strncmp(function, before, head) != 0 ||
        strcmp(function + length - tail, after) != 0)
        return (struct torch_name){NULL, 0};
    return (struct torch_name){function + head, (int)(length - head - tail)};
}

struct torch_name torch_operator_name(const char *function)
{
    return name_between(function, OPERATORS, CALL);
}

struct torch_name torch_module_name(const char *function)
{
    return name_between(function, "", FORWARD);
}

struct torch_name torch_node_name(const char *function)
{
    struct torch_name node = name_between(function, "", APPLY);
    const char *name = function + node.length;
    node.length = 0;
    for (int depth = 0; name > function && (depth || name[-1] != ':'); name--) {
        depth += (name[-1] == '>') - (name[-1] == '<');
        node.length++;
    }
    node.text = node.text ? name : NULL;
    return node;
}

/* --- other names --- */

static bool begins_with(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

bool torch_has_operators(const char *library_file)
{
    return begins_with(library_file, "libtorch_cpu") || begins_with(library_file, "libtorch_cuda");
}

bool torch_is_backward_thread(const char *name)
{
    return begins_with(name, "pt_autograd");
}

bool torch_is_pool(const char *pool)
{
    return pool && !strcmp(pool, TORCH_POOL);
}
