/* SPDX-License-Identifier: MIT */
/* Settings of PyTorch's allocator; see settings.h. */
#include "settings.h"

#include <stdio.h>
#include <string.h>

static const char *const variables[] = {
#define VARIABLE(key, name) name,
#define WORD(name)
#define RELEASE(key, number)
#include "settings.def"
};

static const char *const words_known[] = {
#define VARIABLE(key, name)
#define WORD(name) #name,
#define RELEASE(key, number)
#include "settings.def"
};

const char *torch_variable_name(enum torch_variable variable)
{
    return variables[variable];
}

/* --- reading --- */

/* Prefers PyTorch's own report of its settings to the variables. */
const char *torch_settings(const struct torch_setup *setup)
{
    const char *const *values = setup->values;

    if (values[TORCH_VARIABLE_reported])
        return values[TORCH_VARIABLE_reported];
    if (values[TORCH_VARIABLE_new_name] &&
        (!setup->release || setup->release >= TORCH_RELEASE_new_name))
        return values[TORCH_VARIABLE_new_name];
    return values[TORCH_VARIABLE_old_name] ? values[TORCH_VARIABLE_old_name] : "";
}

static bool is_text(const char *text, size_t length, const char *wanted)
{
    return length == strlen(wanted) && !memcmp(text, wanted, length);
}

bool torch_next_setting(const char **text, struct torch_value *value)
{
    const char *at = *text + strspn(*text, ", ");
    const size_t name_length = strcspn(at, ":,");
    int word = 0;
    if (!*at)
        return false;
    while (word < TORCH_WORDS && !is_text(at, name_length, words_known[word]))
        word++;
    at += name_length;
    at += *at == ':';
    *value = (struct torch_value){(enum torch_word)word, at,
                                  *at == '[' ? strcspn(at, "]") : strcspn(at, ",")};
    *text = at + value->length + (at[value->length] == ']');
    return true;
}

bool torch_is_true(const struct torch_value *value)
{
    return is_text(value->text, value->length, "True") ||
           is_text(value->text, value->length, "true") || is_text(value->text, value->length, "1");
}

bool torch_caches_in_driver(const char *settings)
{
    return strstr(settings, "cudaMallocAsync") != NULL;
}

bool torch_obeys_settings(const struct torch_setup *setup)
{
    for (int i = 0; i < TORCH_VARIABLE_no_caching; i++)
        if (setup->values[i] && torch_caches_in_driver(setup->values[i]))
            return false;
    return !setup->values[TORCH_VARIABLE_no_caching];
}

/* --- writing --- */

bool torch_setting_write(char *setting, size_t bytes, const struct torch_setup *setup,
                         const char *words, int since)
{
    const bool is_new = setup->release >= TORCH_RELEASE_new_name;
    const char *const *values = setup->values;
    const char *value = is_new ? values[TORCH_VARIABLE_new_name] : NULL;
    if (!value) /* for newer releases, the old name is an alias of the new one */
        value = values[TORCH_VARIABLE_old_name];
    const char *taken =
        setup->release == TORCH_RELEASE_deaf ? NULL : values[TORCH_VARIABLE_reported];
    if ((setup->release && setup->release < since) || (value && strstr(value, words)) ||
        (taken && strstr(taken, words)))
        return false;

    char name[64];
    snprintf(name, sizeof name, "%.*s:", (int)strcspn(words, ":"), words);
    const char *old = value ? strstr(value, name) : NULL;
    const char *rest = old ? strchr(old, ',') : NULL;
    const int before = old ? (int)(old - value) : value ? (int)strlen(value) : 0;
    const bool is_closed = !before || value[before - 1] == ',';
    snprintf(setting, bytes, "%s=%.*s%s%s%s",
             variables[is_new ? TORCH_VARIABLE_new_name : TORCH_VARIABLE_old_name], before,
             value ? value : "", is_closed ? "" : ",", words, rest ? rest : "");
    return true;
}
