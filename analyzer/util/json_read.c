/* SPDX-License-Identifier: MIT */
/* Reads JSON; see json_read.h. */
#include "json_read.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

/* While a document is read: the place to which a failed malloc jumps. At other times NULL. */
static _Thread_local jmp_buf *refusal;

static void *refusing_malloc(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory && refusal)
        longjmp(*refusal, 1);
    return memory;
}

static void watch_memory(void)
{
    json_set_alloc_funcs(refusing_malloc, free);
}

static void begin(jmp_buf *where)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_memory);
    refusal = where;
}

static json_t *end(json_t *root)
{
    refusal = NULL;
    return root;
}

/* Reports out of memory. The lexer's memory is not freed, but it is less than the memory that the
 * lexer could not get. */
static json_t *refuse(json_error_t *problem)
{
    refusal = NULL;
    if (problem) {
        *problem = (json_error_t){.line = -1, .column = -1};
        snprintf(problem->text, sizeof problem->text, "out of memory");
    }
    return NULL;
}

json_t *json_read_text(const char *text, json_error_t *problem)
{
    jmp_buf where;
    if (setjmp(where))
        return refuse(problem);
    begin(&where);
    return end(json_loads(text, JSON_REJECT_DUPLICATES, problem));
}

json_t *json_read_file(const char *path, json_error_t *problem)
{
    jmp_buf where;
    if (setjmp(where))
        return refuse(problem);
    begin(&where);
    return end(json_load_file(path, JSON_REJECT_DUPLICATES, problem));
}

json_t *json_read_callback(json_load_callback_t callback, void *data, json_error_t *problem)
{
    jmp_buf where;
    if (setjmp(where))
        return refuse(problem);
    begin(&where);
    return end(json_load_callback(callback, data, JSON_REJECT_DUPLICATES, problem));
}
