/* SPDX-License-Identifier: MIT */
/* Roles of frames; see frame.h. */
#include "frame.h"

#include <string.h>

#include "analyzer/torch/frames.h"
#include "analyzer/util/glob.h"
#include "analyzer/util/text.h"

enum where { WHERE_module, WHERE_file, WHERE_source, WHERE_function, WHERE_meant };

static const struct {
    enum frame_role role;
    enum where where;
    const char *pattern;
    enum torch_meaning meaning; /* only WHERE_meant */
} rules[] = {
#define ROLE(name, text)
#define RULE(role, where, pattern) {ROLE_##role, WHERE_##where, pattern, 0},
#define MEANT(role, meaning) {ROLE_##role, WHERE_meant, NULL, TORCH_##meaning},
#include "frame_roles.def"
};

static const struct {
    const char *key, *text;
} roles[] = {
#define ROLE(name, text) {#name, text},
#define RULE(role, where, pattern)
#define MEANT(role, meaning)
#include "frame_roles.def"
};

const char *frame_role_key(enum frame_role role)
{
    return roles[role].key;
}

const char *frame_role_text(enum frame_role role)
{
    return roles[role].text;
}

/* The text of the frame that the rule's pattern is compared with; NULL: none. */
static const char *subject_of(const struct symbol_frame *frame, enum where where,
                              const char *pattern)
{
    bool is_python = !strcmp(frame->kind, "python");
    if (where == WHERE_file)
        return is_python ? frame->file : NULL;
    if (where == WHERE_source)
        return is_python ? NULL : frame->file;
    if (where == WHERE_function)
        return is_python || !frame->is_named ? NULL : frame->function;
    if (!frame->module || strchr(pattern, '/'))
        return frame->module;
    return path_name(frame->module);
}

enum frame_role frame_role_of(const struct symbol_frame *frame)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].where == WHERE_meant) {
            if (torch_is(frame->means, rules[i].meaning))
                return rules[i].role;
            continue;
        }
        const char *text = subject_of(frame, rules[i].where, rules[i].pattern);
        if (text && glob_match(rules[i].pattern, text))
            return rules[i].role;
    }
    return ROLE_program;
}
