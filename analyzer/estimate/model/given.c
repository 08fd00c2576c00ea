/* SPDX-License-Identifier: MIT */
/* Gives dimensions values from a config and from --set; see given.h. */
#include "given.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/json_field.h"
#include "analyzer/util/text.h"

/* --- words of --set --- */

json_t *given_word(const char *word)
{
    char *end;
    if (strcmp(word, "true") == 0 || strcmp(word, "false") == 0)
        return json_boolean(*word == 't');
    errno = 0;
    const long long integer = strtoll(word, &end, 10);
    if (*word && !*end && !errno)
        return json_integer(integer);
    const double real = strtod(word, &end);
    const bool is_real = isdigit((unsigned char)*word) && !*end && isfinite(real);
    return is_real ? json_real(real) : json_string(word);
}

json_t *given_parse(const char *words, struct err *err)
{
    char *copy = strdup(words), *rest = copy, *word;
    json_t *options = json_object();
    if (!copy || !options) {
        err_set(err, ERR_SYSTEM, "out of memory for the dimensions");
        goto fail;
    }
    while ((word = strsep(&rest, ","))) {
        char *value = strchr(word, '='), shown[JSON_SHOWN_BYTES];
        if (!value || value == word || !value[1]) {
            err_set(err, ERR_USAGE, "option '--set': %s is not NAME=VALUE",
                    json_shown_text(word, shown));
            goto fail;
        }
        *value = '\0';
        if (json_object_set_new(options, word, given_word(value + 1))) {
            err_set(err, ERR_USAGE, "option '--set': %s is not a text of UTF-8",
                    json_shown_text(word, shown));
            goto fail;
        }
    }
    free(copy);
    return options;
fail:
    free(copy);
    json_decref(options);
    return NULL;
}

/* --- the class --- */

static int fail_architecture(const json_t *known, const char *wanted, struct err *err)
{
    char shown[JSON_SHOWN_BYTES];
    struct text names;
    text_init(&names, 400);
    for (size_t i = 0; i < json_array_size(known); i++)
        text_addf(&names, "%s%s", i ? ", " : "", json_string_value(json_array_get(known, i)));
    err_set(err, ERR_INPUT,
            "architecture %s is unknown here (--set=architecture=NAME); known are %s",
            json_shown_text(wanted, shown), names.data);
    text_release(&names);
    return -1;
}

/*
 * Checks that the class is one of those in the file. If neither the config nor an option names a
 * class, it is the file's first one.
 */
static int check_architecture(struct dimensions *dimensions, const json_t *known, struct err *err)
{
    struct value value;
    struct err inner = {0};
    if (expression_evaluate(ARCHITECTURE_NAME, &dimensions->names, &value, &inner)) {
        *err = inner;
        return -1;
    }
    for (size_t i = 0; value.kind == VALUE_text && i < json_array_size(known); i++)
        if (strcmp(json_string_value(json_array_get(known, i)), value.text) == 0)
            return 0;
    return fail_architecture(known, value.kind == VALUE_text ? value.text : "", err);
}

static bool are_names(const json_t *list)
{
    bool all = json_is_array(list);
    for (size_t i = 0; i < json_array_size(list); i++)
        all &= json_is_string(json_array_get(list, i));
    return all;
}

static int apply_architecture(const struct given *given, struct dimensions *dimensions,
                              const json_t *known, struct err *err)
{
    const json_t *classes = json_object_get(given->config, "architectures");
    const bool none = !classes || json_is_null(classes);
    if ((!none && !are_names(classes)) || !are_names(known) || json_array_size(known) == 0)
        return err_set(err, ERR_INPUT, "field 'architectures' must be a list of names");
    const json_t *first = json_array_get(classes, 0);
    return dimensions_add(dimensions, ARCHITECTURE_NAME, first ? first : json_array_get(known, 0),
                          err);
}

/* --- the whole --- */

int given_apply(const struct given *given, struct dimensions *dimensions, const json_t *file,
                struct err *err)
{
    static const struct given none = {0};
    const json_t *known = json_object_get(file, "architectures");
    const char *name;
    json_t *value;
    given = given ? given : &none;
    const json_t *training = json_object_get(file, TRAINING_NAME);
    training = given->inference ? json_false() : json_is_boolean(training) ? training : json_true();
    if (dimensions_add(dimensions, TRAINING_NAME, training, err) ||
        (known && apply_architecture(given, dimensions, known, err)))
        return -1;
    dimensions_give(dimensions, given->config, json_object_get(file, "nulls"));
    json_object_foreach(given->options, name, value)
    {
        if (dimensions_give_one(dimensions, name, value, err))
            return -1;
    }
    if (dimensions_check(dimensions, err))
        return -1;
    return known ? check_architecture(dimensions, known, err) : 0;
}
