/* SPDX-License-Identifier: MIT */
/* Writes a new trace; see draft.h. */
#include "draft.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/util/pair_map.h"
#include "analyzer/util/array.h"
#include "analyzer/util/text.h"
#include "analyzer/util/text_set.h"
#include "analyzer/util/utf8.h"
#include "gpumemtrace/limits.h"
#include "gpumemtrace/version.h"
#include "trace/hook_ids.h"
#include "trace/trace_file.h"

/* The addresses of native frames are invented, 16 apart, because address + 1 stands for
 * an interrupted frame. Each module has room for all frames; frames without a module lie
 * below the first module. */
enum { BATCH_EVENTS = 1024, ADDRESS_STEP = 16, NOT_KNOWN_BYTES = LIMIT_text_bytes };
#define MODULE_BYTES ((uint64_t)ADDRESS_STEP << 32)

struct draft {
    struct store store;
    char *path, *aside;
    char *beside; /* names of SQLite's own files; made early, because memory may be short later */
    struct text_set texts;              /* the id of a text is its number + 1 */
    struct pair_map frames;             /* key: caller and kind, place */
    struct pair_map locations, natives; /* key: line, function and file */
    struct pair_map modules;            /* number of a module, by the id of its path */
    uint32_t frame_count, location_count, native_count, module_count;
    uint16_t hook_count;
    struct text not_known;
    sqlite3_stmt *add_symbol, *add_hook;
    uint64_t event_count;
    struct ring_slot slots[BATCH_EVENTS]; /* events that are not stored yet */
    struct batch_event events[BATCH_EVENTS];
    size_t pending_count;
};

/* --- the file aside --- */

/* An existing trace may be replaced, as `run` does. Any other existing file is refused. */
static int check_path(const char *path, struct err *err)
{
    struct stat status;
    struct err reason;
    if (stat(path, &status) && errno == ENOENT)
        return 0;
    if (!trace_file_check(path, &reason))
        return 0;
    return err_set(err, ERR_USAGE, "%s exists and is not a trace; name another file with -o", path);
}

static int make_aside(struct draft *draft, const char *path, struct err *err)
{
    static const char suffix[] = ".XXXXXX";
    const size_t bytes = strlen(path) + sizeof suffix;
    int fd = -1;
    draft->path = strdup(path);
    draft->aside = malloc(bytes);
    draft->beside = malloc(bytes + sizeof "-journal");
    if (draft->path && draft->aside && draft->beside) {
        snprintf(draft->aside, bytes, "%s%s", path, suffix);
        fd = mkostemp(draft->aside, O_CLOEXEC);
        if (fd < 0)
            err_set(err, ERR_SYSTEM, "cannot write %s: %s", path, strerror(errno));
    } else {
        err_set(err, ERR_SYSTEM, "out of memory for %s", path);
    }
    if (fd >= 0) {
        close(fd);
        return 0;
    }
    free(draft->aside);
    draft->aside = NULL; /* draft_abandon must remove no file */
    return -1;
}

static void remove_aside(const struct draft *draft)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(draft->beside, strlen(draft->aside) + sizeof "-journal", "%s%s", draft->aside,
                 suffixes[i]);
        unlink(draft->beside);
    }
}

static void release(struct draft *draft)
{
    sqlite3_finalize(draft->add_symbol);
    sqlite3_finalize(draft->add_hook);
    draft->add_symbol = draft->add_hook = NULL;
    text_set_release(&draft->texts);
    text_release(&draft->not_known);
    pair_map_release(&draft->frames);
    pair_map_release(&draft->locations);
    pair_map_release(&draft->natives);
    pair_map_release(&draft->modules);
}

void draft_abandon(struct draft *draft)
{
    release(draft);
    store_abandon(&draft->store);
    if (draft->aside)
        remove_aside(draft);
    free(draft->aside);
    free(draft->beside);
    free(draft->path);
    free(draft);
}

static int sql_failed(const struct draft *draft, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "cannot write %s: %s", draft->path,
                   sqlite3_errmsg(draft->store.db));
}

static int prepare(struct draft *draft, struct err *err)
{
    sqlite3 *db = draft->store.db;
    if (sqlite3_prepare_v2(db, "INSERT INTO symbol VALUES(?1,0,?2,?3,?4)", -1, &draft->add_symbol,
                           NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, "INSERT INTO hook VALUES(?1,?2,?3)", -1, &draft->add_hook, NULL) ==
            SQLITE_OK)
        return 0;
    return sql_failed(draft, err);
}

struct draft *draft_begin(const char *path, struct err *err)
{
    struct draft *draft;
    if (check_path(path, err) || !(draft = array_new(1, sizeof *draft, err)))
        return NULL;
    draft->hook_count = HOOK_COUNT;
    text_init(&draft->not_known, NOT_KNOWN_BYTES);
    if (!make_aside(draft, path, err) && !store_create(&draft->store, draft->aside, err) &&
        !store_begin(&draft->store, err) && !prepare(draft, err) &&
        !draft_set_text(draft, META_gpumemtrace_version, GMT_VERSION, err))
        return draft;
    draft_abandon(draft);
    return NULL;
}

static int flush_events(struct draft *draft, struct err *err)
{
    const size_t count = draft->pending_count;
    draft->pending_count = 0;
    return store_events(&draft->store, draft->events, count, err);
}

static int finish(struct draft *draft, struct err *err)
{
    if (flush_events(draft, err))
        return -1;
    if (text_failed(&draft->not_known))
        return err_set(err, ERR_SYSTEM, "out of memory for %s", draft->path);
    return draft_set_text(draft, META_not_known, draft->not_known.data, err) ||
                   store_commit(&draft->store, err)
               ? -1
               : 0;
}

int draft_end(struct draft *draft, uint64_t *event_count, struct err *err)
{
    int status = finish(draft, err);
    *event_count = draft->event_count;
    release(draft);
    if (!status)
        status = store_close(&draft->store, err);
    if (!status && rename(draft->aside, draft->path)) {
        err_set(err, ERR_SYSTEM, "cannot write %s: %s", draft->path, strerror(errno));
        status = -1;
    }
    if (!status) {
        free(draft->aside);
        draft->aside = NULL;
    }
    draft_abandon(draft);
    return status;
}

/* --- properties --- */

int draft_set_text(struct draft *draft, enum meta_key key, const char *value, struct err *err)
{
    return store_meta_text(&draft->store, key, value, err);
}

int draft_set_integer(struct draft *draft, enum meta_key key, int64_t value, struct err *err)
{
    return store_meta_integer(&draft->store, key, value, err);
}

int draft_does_not_know(struct draft *draft, struct err *err, const char *format, ...)
{
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    text_addf(&draft->not_known, "%s%s", draft->not_known.length ? "; " : "", sentence);
    if (!text_failed(&draft->not_known))
        return 0;
    return err_set(err, ERR_SYSTEM, "out of memory for %s", draft->path);
}

int draft_lacks(struct draft *draft, enum lack lack, struct err *err)
{
    return draft_does_not_know(draft, err, "%s", lack_words(lack));
}

int draft_hook(struct draft *draft, const char *name, const char *api, uint16_t *hook_id,
               struct err *err)
{
    sqlite3_stmt *add = draft->add_hook;
    *hook_id = draft->hook_count++;
    sqlite3_bind_int(add, 1, *hook_id);
    sqlite3_bind_text(add, 2, name, -1, SQLITE_STATIC);
    sqlite3_bind_text(add, 3, api, -1, SQLITE_STATIC);
    const int status = sqlite3_step(add) == SQLITE_DONE ? 0 : sql_failed(draft, err);
    sqlite3_reset(add);
    return status;
}

int draft_allocator_setting(struct draft *draft, const char *name, const char *value, size_t length,
                            struct err *err)
{
    char copy[LIMIT_text_bytes + 1];
    const size_t most = length < LIMIT_text_bytes ? length : LIMIT_text_bytes;
    memcpy(copy, value, most);
    copy[most] = '\0';
    return store_variable(&draft->store, "allocator_setting", name, copy, err);
}

static int define(struct draft *draft, const struct ring_slot *slot, const char *text,
                  size_t text_bytes, struct err *err)
{
    return store_define(&draft->store, slot, text, text_bytes, err);
}

int draft_device(struct draft *draft, int device, const char *uuid, const char *name,
                 uint64_t total_bytes, struct err *err)
{
    const struct ring_slot slot = {
        .type = SLOT_DEVICE, .seq = (uint64_t)device, .size_bytes = total_bytes};
    char text[256];
    const int uuid_bytes = snprintf(text, 100, "%s", uuid);
    const size_t at = (size_t)(uuid_bytes < 100 ? uuid_bytes : 99) + 1;
    snprintf(text + at, sizeof text - at, "%s", name);
    return define(draft, &slot, text, at + strlen(text + at), err);
}

int draft_thread(struct draft *draft, uint32_t thread_id, uint64_t tid, const char *name,
                 struct err *err)
{
    const struct ring_slot slot = {.type = SLOT_THREAD, .seq = thread_id, .address = tid};
    return define(draft, &slot, name, strlen(name), err);
}

/* --- texts and stacks --- */

uint32_t draft_text(struct draft *draft, const char *text, size_t length, struct err *err)
{
    char copy[LIMIT_text_bytes + 1];
    const size_t most = length < LIMIT_text_bytes ? length : LIMIT_text_bytes;
    struct ring_slot slot = {.type = SLOT_STRING};
    memcpy(copy, text, most);
    copy[most] = '\0';
    if (most < length) /* the cut may lie within a UTF-8 character */
        copy[utf8_cut_length(copy, LIMIT_text_bytes - 4)] = '\0';
    const uint32_t known = (uint32_t)draft->texts.count;
    const uint32_t number = text_set_add(&draft->texts, copy, err);
    if (number == TEXT_SET_NONE)
        return 0;
    slot.seq = number + 1;
    if (number == known && define(draft, &slot, copy, strlen(copy), err))
        return 0;
    return number + 1;
}

static uint32_t add_frame(struct draft *draft, uint32_t parent, enum frame_kind kind,
                          uint64_t address, struct err *err)
{
    const uint64_t key = address * (FRAME_LABEL + 1) + kind;
    const uint32_t found = pair_map_get(&draft->frames, parent, key);
    const struct ring_slot slot = {.type = SLOT_FRAME,
                                   .seq = draft->frame_count + 1,
                                   .address = address,
                                   .stack_id = parent,
                                   .memory = (uint8_t)kind};
    if (found != PAIR_MAP_NONE)
        return found;
    if (define(draft, &slot, "", 0, err) ||
        pair_map_put(&draft->frames, parent, key, draft->frame_count + 1, err))
        return 0;
    return ++draft->frame_count;
}

static uint64_t place_key(const struct draft_place *place)
{
    return (uint64_t)place->function_id << 32 | place->file_id;
}

uint32_t draft_python_frame(struct draft *draft, uint32_t parent, const struct draft_place *place,
                            struct err *err)
{
    uint32_t id = pair_map_get(&draft->locations, place->line, place_key(place));
    if (id == PAIR_MAP_NONE) {
        id = draft->location_count + 1;
        const struct ring_slot slot = {.type = SLOT_LOCATION,
                                       .seq = id,
                                       .address = place->function_id,
                                       .size_bytes = place->file_id,
                                       .object = place->line};
        if (define(draft, &slot, "", 0, err) ||
            pair_map_put(&draft->locations, place->line, place_key(place), id, err))
            return 0;
        draft->location_count++;
    }
    return add_frame(draft, parent, FRAME_PYTHON, id, err);
}

static int add_symbol(struct draft *draft, uint64_t address, const struct draft_place *place,
                      struct err *err)
{
    const uint64_t values[] = {address, place->function_id, place->file_id, place->line};
    sqlite3_stmt *add = draft->add_symbol;
    for (int i = 0; i < 4; i++)
        sqlite3_bind_int64(add, i + 1, (sqlite3_int64)values[i]);
    const int status = sqlite3_step(add) == SQLITE_DONE ? 0 : sql_failed(draft, err);
    sqlite3_reset(add);
    return status;
}

/* module: number of the module, 0: unknown. key identifies the function within a module, or within
 * a line of a source file. */
static uint32_t add_native(struct draft *draft, uint32_t parent, const struct draft_place *place,
                           uint64_t key, uint32_t module, struct err *err)
{
    const uint32_t line = module ? UINT32_MAX : place->line;
    uint32_t number = pair_map_get(&draft->natives, line, key);
    const bool is_new = number == PAIR_MAP_NONE;
    if (is_new)
        number = draft->native_count + 1;
    const uint64_t address = module * MODULE_BYTES + (uint64_t)number * ADDRESS_STEP;
    if (is_new && (add_symbol(draft, address, place, err) ||
                   pair_map_put(&draft->natives, line, key, number, err)))
        return 0;
    draft->native_count += is_new;
    return add_frame(draft, parent, FRAME_NATIVE, address, err);
}

uint32_t draft_native_frame(struct draft *draft, uint32_t parent, const struct draft_place *place,
                            struct err *err)
{
    return add_native(draft, parent, place, place_key(place), 0, err);
}

/* Returns the module's number; 0 and *err on failure. */
static uint32_t find_module(struct draft *draft, uint32_t text_id, struct err *err)
{
    const uint32_t found = pair_map_get(&draft->modules, 0, text_id);
    const char *path = draft->texts.texts[text_id - 1];
    const uint32_t number = draft->module_count + 1;
    const struct ring_slot slot = {.type = SLOT_MODULE,
                                   .seq = number,
                                   .address = number * MODULE_BYTES,
                                   .object = number * MODULE_BYTES,
                                   .stream = (number + 1) * MODULE_BYTES};
    if (found != PAIR_MAP_NONE)
        return found;
    if (define(draft, &slot, path, strlen(path), err) ||
        pair_map_put(&draft->modules, 0, text_id, number, err))
        return 0;
    return ++draft->module_count;
}

uint32_t draft_module_frame(struct draft *draft, uint32_t parent, uint32_t function_id,
                            uint32_t module_text_id, struct err *err)
{
    const struct draft_place place = {.function_id = function_id};
    const uint32_t module = find_module(draft, module_text_id, err);
    const uint64_t key = (uint64_t)function_id << 32 | module_text_id;
    return module ? add_native(draft, parent, &place, key, module, err) : 0;
}

uint32_t draft_label_frame(struct draft *draft, uint32_t parent, uint32_t text_id, struct err *err)
{
    return add_frame(draft, parent, FRAME_LABEL, text_id, err);
}

/* --- events --- */

int draft_event(struct draft *draft, const struct event *event, struct err *err)
{
    if (draft->pending_count == BATCH_EVENTS && flush_events(draft, err))
        return -1;
    struct ring_slot *slot = &draft->slots[draft->pending_count];
    *slot = (struct ring_slot){.seq = ++draft->event_count,
                               .time_ns = event->time_ns,
                               .address = event->address,
                               .size_bytes = event->size_bytes,
                               .object = event->object,
                               .stream = event->stream,
                               .stack_id = event->stack_id,
                               .result = (int16_t)event->result,
                               .call_id = event->call_id,
                               .hook_id = event->hook_id,
                               .kind = event->kind,
                               .memory = event->memory,
                               .device = event->device,
                               .nested = event->nested,
                               .type = SLOT_EVENT,
                               .state = SLOT_DONE};
    if (record_is_timed(slot->kind, slot->memory))
        slot->stream = 0; /* for such events this field is a duration, which is unknown */
    draft->events[draft->pending_count++] = (struct batch_event){slot, event->thread_id};
    return 0;
}
