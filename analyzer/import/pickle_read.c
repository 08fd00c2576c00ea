/* SPDX-License-Identifier: MIT */
/* Reads pickles as plain values; see pickle_read.h. Opcodes have the names of Python's
 * pickletools. */
#include "pickle_read.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"

enum opcode {
    OP_MARK = '(',
    OP_STOP = '.',
    OP_BINFLOAT = 'G',
    OP_BININT = 'J',
    OP_BININT1 = 'K',
    OP_BININT2 = 'M',
    OP_NONE = 'N',
    OP_BINUNICODE = 'X',
    OP_BINBYTES = 'B',
    OP_SHORT_BINBYTES = 'C',
    OP_APPEND = 'a',
    OP_APPENDS = 'e',
    OP_BINGET = 'h',
    OP_LONG_BINGET = 'j',
    OP_BINPUT = 'q',
    OP_LONG_BINPUT = 'r',
    OP_SETITEM = 's',
    OP_SETITEMS = 'u',
    OP_EMPTY_LIST = ']',
    OP_EMPTY_DICT = '}',
    OP_EMPTY_TUPLE = ')',
    OP_TUPLE = 't',
    OP_PROTO = 0x80,
    OP_TUPLE1 = 0x85,
    OP_TUPLE2 = 0x86,
    OP_TUPLE3 = 0x87,
    OP_NEWTRUE = 0x88,
    OP_NEWFALSE = 0x89,
    OP_LONG1 = 0x8a,
    OP_SHORT_BINUNICODE = 0x8c,
    OP_BINUNICODE8 = 0x8d,
    OP_MEMOIZE = 0x94,
    OP_FRAME = 0x95,
};

/* MARKS: a snapshot has about twelve levels. MEMO_SLACK: memos are numbered in order, so larger
 * gaps are errors. KEYS: a snapshot's dictionaries have twenty keys; the limit bounds the search in
 * longer ones, which many places could share. */
enum { MARKS_MOST = 1000, MEMO_SLACK = 65536, KEYS_MOST = 256, OLDEST_PROTOCOL = 2, NEWEST = 5 };

struct reader {
    struct pickle_values *values;
    const char *name;
    const unsigned char *bytes;
    size_t length, at; /* at: behind the bytes read */
    size_t opcode_at;
    struct pickle_value *stack;
    size_t count, capacity;
    size_t marks[MARKS_MOST]; /* height of the stack at each mark */
    size_t mark_count;
    struct pickle_value *memo;
    bool *is_set;
    size_t memo_limit, memo_capacity, set_capacity, put_count;
    bool is_over;
    struct err *err;
};

static int broken(const struct reader *reader, const char *what)
{
    err_set(reader->err, ERR_INPUT, "%s cannot be read as a memory snapshot: byte %zu: %s",
            reader->name, reader->opcode_at, what);
    return -1;
}

/* Refuses an opcode. The message names opcodes that load a class or call a function. */
static int refuse(const struct reader *reader, unsigned char opcode)
{
    static const struct {
        unsigned char opcode;
        const char *name;
    } calls[] = {{'c', "GLOBAL"},   {0x93, "STACK_GLOBAL"}, {'R', "REDUCE"},  {'b', "BUILD"},
                 {'i', "INST"},     {'o', "OBJ"},           {0x81, "NEWOBJ"}, {0x92, "NEWOBJ_EX"},
                 {0x82, "EXT1"},    {0x83, "EXT2"},         {0x84, "EXT4"},   {'P', "PERSID"},
                 {'Q', "BINPERSID"}};

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].opcode == opcode)
            return err_set(
                reader->err, ERR_INPUT,
                "%s: byte %zu: %s would make an object or call something, which no memory "
                "snapshot does; it is refused and nothing of it has run",
                reader->name, reader->opcode_at, calls[i].name);
    return broken(reader, "an opcode that no memory snapshot has");
}

/* --- bytes --- */

static int take(struct reader *reader, size_t count, const unsigned char **bytes)
{
    if (count > reader->length - reader->at)
        return broken(reader, "the file ends here; it is cut short");
    *bytes = reader->bytes + reader->at;
    reader->at += count;
    return 0;
}

static int take_number(struct reader *reader, size_t count, uint64_t *number)
{
    const unsigned char *bytes;
    if (take(reader, count, &bytes))
        return -1;
    *number = 0;
    for (size_t i = count; i-- > 0;)
        *number = *number << 8 | bytes[i];
    return 0;
}

/* --- the stack --- */

static size_t floor_of(const struct reader *reader)
{
    return reader->mark_count ? reader->marks[reader->mark_count - 1] : 0;
}

static int push(struct reader *reader, struct pickle_value value)
{
    if (ARRAY_GROW(reader->stack, reader->capacity, reader->count, reader->err))
        return -1;
    reader->stack[reader->count++] = value;
    return 0;
}

static int push_number(struct reader *reader, uint32_t type, uint64_t number)
{
    return push(reader, (struct pickle_value){.type = type, .number = number});
}

static int push_mark(struct reader *reader)
{
    if (reader->mark_count == MARKS_MOST)
        return broken(reader, "lists lie more than 1000 deep in each other");
    reader->marks[reader->mark_count++] = reader->count;
    return 0;
}

/* Removes the last mark. *first becomes the index of the first value above it. */
static int pop_mark(struct reader *reader, size_t *first)
{
    if (!reader->mark_count)
        return broken(reader, "an end without a beginning");
    *first = reader->marks[--reader->mark_count];
    return 0;
}

static int need(const struct reader *reader, size_t count)
{
    return reader->count - floor_of(reader) >= count ? 0 : broken(reader, "a value is missing");
}

static int push_text(struct reader *reader, size_t length_bytes, bool is_text)
{
    struct pickle_value value = {.type = is_text ? PICKLE_TEXT : PICKLE_OTHER};
    const unsigned char *bytes;
    uint64_t length;
    if (take_number(reader, length_bytes, &length))
        return -1;
    if (length > UINT32_MAX)
        return broken(reader, "a text of more than 4 GiB");
    if (take(reader, (size_t)length, &bytes))
        return -1;
    value.length = (uint32_t)length;
    value.text = (const char *)bytes;
    return push(reader, value);
}

/* Pushes a LONG1 number, in two's complement. Negative numbers and numbers above 64 bits
 * become PICKLE_OTHER. */
static int push_long(struct reader *reader)
{
    const unsigned char *bytes;
    uint64_t length, number = 0;
    if (take_number(reader, 1, &length) || take(reader, (size_t)length, &bytes))
        return -1;
    if (length > 9 || (length == 9 && bytes[8]) || (length && bytes[length - 1] & 0x80))
        return push_number(reader, PICKLE_OTHER, 0);
    for (size_t i = length < 8 ? (size_t)length : 8; i-- > 0;)
        number = number << 8 | bytes[i];
    return push_number(reader, PICKLE_NUMBER, number);
}

static int push_int(struct reader *reader, size_t bytes)
{
    uint64_t number;
    if (take_number(reader, bytes, &number))
        return -1;
    return push_number(reader, bytes == 4 && number >> 31 ? PICKLE_OTHER : PICKLE_NUMBER, number);
}

static int skip(struct reader *reader, size_t count)
{
    const unsigned char *bytes;
    return take(reader, count, &bytes);
}

/* --- lists --- */

static int add_items(struct reader *reader, struct pickle_list *list, size_t first)
{
    const size_t count = reader->count - first;
    for (size_t i = 0; i < count; i++) {
        if (ARRAY_GROW(list->items, list->capacity, list->count, reader->err))
            return -1;
        list->items[list->count++] = reader->stack[first + i];
    }
    reader->count = first;
    return 0;
}

/* Replaces the values from index `first` on by a new list or dictionary that holds them. */
static int push_list(struct reader *reader, enum pickle_type type, size_t first)
{
    struct pickle_values *values = reader->values;
    struct pickle_list *list = arena_take(&values->lists, sizeof *list);
    if (!list || values->list_count == UINT32_MAX)
        return err_set(reader->err, ERR_SYSTEM, "out of memory for %s", reader->name);
    *list = (struct pickle_list){.number = values->list_count++};
    *(values->newest ? &values->newest->newer : &values->oldest) = list;
    values->newest = list;
    if (add_items(reader, list, first))
        return -1;
    return push(reader, (struct pickle_value){.type = type, .list = list});
}

static int push_tuple(struct reader *reader, size_t count)
{
    return need(reader, count) ? -1 : push_list(reader, PICKLE_LIST, reader->count - count);
}

static int push_marked_tuple(struct reader *reader)
{
    size_t first;
    return pop_mark(reader, &first) ? -1 : push_list(reader, PICKLE_LIST, first);
}

/* Moves the values from index `first` on into the list or dictionary just below them. */
static int fill(struct reader *reader, enum pickle_type type, size_t first)
{
    if (first <= floor_of(reader) || reader->stack[first - 1].type != type)
        return broken(reader, "items without the list that they go into");
    if (type == PICKLE_DICT && (reader->count - first) % 2)
        return broken(reader, "a key without a value");
    return add_items(reader, reader->stack[first - 1].list, first);
}

static int fill_marked(struct reader *reader, enum pickle_type type)
{
    size_t first;
    return pop_mark(reader, &first) ? -1 : fill(reader, type, first);
}

static int fill_few(struct reader *reader, enum pickle_type type, size_t count)
{
    return need(reader, count + 1) ? -1 : fill(reader, type, reader->count - count);
}

/* --- memos --- */

static int remember(struct reader *reader, uint64_t number)
{
    size_t limit = reader->memo_limit;
    if (need(reader, 1))
        return -1;
    if (number > reader->put_count + MEMO_SLACK)
        return broken(reader, "a memo's number is far beyond how many there are");
    if (ARRAY_REACH(reader->memo, reader->memo_capacity, limit, (size_t)number, reader->err))
        return -1;
    if (ARRAY_REACH(reader->is_set, reader->set_capacity, reader->memo_limit, (size_t)number,
                    reader->err))
        return -1;
    reader->memo[number] = reader->stack[reader->count - 1];
    reader->is_set[number] = true;
    reader->put_count++;
    return 0;
}

static int put_memo(struct reader *reader, size_t bytes)
{
    uint64_t number;
    return take_number(reader, bytes, &number) ? -1 : remember(reader, number);
}

static int get_memo(struct reader *reader, size_t bytes)
{
    uint64_t number;
    if (take_number(reader, bytes, &number))
        return -1;
    if (number >= reader->memo_limit || !reader->is_set[number])
        return broken(reader, "a memo without a value");
    return push(reader, reader->memo[number]);
}

/* --- the whole --- */

static int check_protocol(struct reader *reader)
{
    uint64_t protocol;
    if (take_number(reader, 1, &protocol))
        return -1;
    return protocol >= OLDEST_PROTOCOL && protocol <= NEWEST
               ? 0
               : broken(reader, "a protocol of pickles that is not 2 to 5");
}

static int stop(struct reader *reader)
{
    if (need(reader, 1))
        return -1;
    reader->values->root = reader->stack[reader->count - 1];
    reader->is_over = true;
    return 0;
}

/* Handles opcodes that push a value, or skip bytes. */
static int read_value(struct reader *reader, unsigned char opcode)
{
    switch (opcode) {
    case OP_NONE:
        return push_number(reader, PICKLE_NONE, 0);
    case OP_NEWTRUE:
    case OP_NEWFALSE:
        return push_number(reader, PICKLE_BOOL, opcode == OP_NEWTRUE);
    case OP_BININT:
        return push_int(reader, 4);
    case OP_BININT1:
        return push_int(reader, 1);
    case OP_BININT2:
        return push_int(reader, 2);
    case OP_LONG1:
        return push_long(reader);
    case OP_BINFLOAT:
        return skip(reader, 8) || push_number(reader, PICKLE_OTHER, 0) ? -1 : 0;
    case OP_BINUNICODE:
        return push_text(reader, 4, true);
    case OP_SHORT_BINUNICODE:
        return push_text(reader, 1, true);
    case OP_BINUNICODE8:
        return push_text(reader, 8, true);
    case OP_BINBYTES:
        return push_text(reader, 4, false);
    case OP_SHORT_BINBYTES:
        return push_text(reader, 1, false);
    case OP_FRAME:
        return skip(reader, 8);
    case OP_PROTO:
        return check_protocol(reader);
    default:
        return refuse(reader, opcode);
    }
}

static int read_opcode(struct reader *reader, unsigned char opcode)
{
    switch (opcode) {
    case OP_STOP:
        return stop(reader);
    case OP_MARK:
        return push_mark(reader);
    case OP_EMPTY_LIST:
    case OP_EMPTY_TUPLE:
        return push_list(reader, PICKLE_LIST, reader->count);
    case OP_EMPTY_DICT:
        return push_list(reader, PICKLE_DICT, reader->count);
    case OP_TUPLE:
        return push_marked_tuple(reader);
    case OP_TUPLE1:
    case OP_TUPLE2:
    case OP_TUPLE3:
        return push_tuple(reader, (size_t)opcode - OP_TUPLE1 + 1);
    case OP_APPEND:
        return fill_few(reader, PICKLE_LIST, 1);
    case OP_APPENDS:
        return fill_marked(reader, PICKLE_LIST);
    case OP_SETITEM:
        return fill_few(reader, PICKLE_DICT, 2);
    case OP_SETITEMS:
        return fill_marked(reader, PICKLE_DICT);
    case OP_BINPUT:
        return put_memo(reader, 1);
    case OP_LONG_BINPUT:
        return put_memo(reader, 4);
    case OP_MEMOIZE:
        return remember(reader, reader->put_count);
    case OP_BINGET:
        return get_memo(reader, 1);
    case OP_LONG_BINGET:
        return get_memo(reader, 4);
    default:
        return read_value(reader, opcode);
    }
}

int pickle_read(struct pickle_values *values, const char *name, const unsigned char *bytes,
                size_t length, struct err *err)
{
    struct reader *reader = array_new(1, sizeof *reader, err);
    const unsigned char *opcode;
    int status = reader ? 0 : -1;
    *values = (struct pickle_values){0};
    if (!reader)
        return -1;
    *reader = (struct reader){
        .values = values, .name = name, .bytes = bytes, .length = length, .err = err};
    while (!status && !reader->is_over) {
        reader->opcode_at = reader->at;
        status = take(reader, 1, &opcode) || read_opcode(reader, *opcode) ? -1 : 0;
    }
    free(reader->stack);
    free(reader->memo);
    free(reader->is_set);
    free(reader);
    if (status)
        pickle_values_release(values);
    return status;
}

void pickle_values_release(struct pickle_values *values)
{
    for (struct pickle_list *list = values->oldest; list; list = list->newer)
        free(list->items);
    arena_release(&values->lists);
    *values = (struct pickle_values){0};
}

/* --- looking at values --- */

bool pickle_is_text(const struct pickle_value *value, const char *text)
{
    return value && value->type == PICKLE_TEXT && value->length == strlen(text) &&
           !memcmp(value->text, text, value->length);
}

const struct pickle_value *pickle_get(const struct pickle_value *dictionary, const char *key)
{
    if (dictionary->type != PICKLE_DICT || dictionary->list->count / 2 > KEYS_MOST)
        return NULL;
    for (size_t i = dictionary->list->count; i >= 2; i -= 2)
        if (pickle_is_text(&dictionary->list->items[i - 2], key))
            return &dictionary->list->items[i - 1];
    return NULL;
}

size_t pickle_items(const struct pickle_value *value, const struct pickle_value **items)
{
    if (!value || value->type != PICKLE_LIST)
        return 0;
    *items = value->list->items;
    return value->list->count;
}
