/* SPDX-License-Identifier: MIT */
/*
 * See frame_rules.h. Finds an entry of .eh_frame by the search table and runs its few instructions.
 * Anything unusual gives FRAME_NONE.
 */
#include "frame_rules.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

#include "interpose/image/image_list.h"
#include "unwind_table.h"

#if defined(__x86_64__)

/* DWARF's register numbers. */
enum { REGISTER_BP = 6, REGISTER_SP = 7, REGISTER_RETURN = 16 };

#define POINTER_USUAL 0x1b /* relative to the pointer's own address, four bytes, signed */
#define REMEMBERED_MAX 4

/* --- reading --- */

struct bytes {
    const uint8_t *at, *end;
    bool bad; /* unexpected bytes were met; every further read gives 0 */
};

static uint64_t read_fixed(struct bytes *bytes, size_t count)
{
    uint64_t value = 0;
    if (bytes->bad || (size_t)(bytes->end - bytes->at) < count) {
        bytes->bad = true;
        return 0;
    }
    memcpy(&value, bytes->at, count);
    bytes->at += count;
    return value;
}

static uint64_t read_leb(struct bytes *bytes, bool is_signed)
{
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = read_fixed(bytes, 1);
        value |= (byte & 0x7f) << shift;
        shift += 7;
        bytes->bad |= shift > 35; /* such a number is larger than any frame */
    } while (byte & 0x80 && !bytes->bad);
    if (is_signed && byte & 0x40)
        value |= ~UINT64_C(0) << shift;
    return value;
}

static void skip(struct bytes *bytes, uint64_t count)
{
    if (bytes->bad || count > (uint64_t)(bytes->end - bytes->at))
        bytes->bad = true;
    else
        bytes->at += count;
}

/* Returns the bytes of an entry of .eh_frame, after its length. */
static struct bytes entry_at(const uint8_t *at)
{
    uint32_t length;
    memcpy(&length, at, sizeof length);
    const bool bad = length == 0 || length == UINT32_MAX;
    return (struct bytes){at + sizeof length, at + sizeof length + (bad ? 0 : length), bad};
}

/* --- CIE: the part that several entries share --- */

struct common {
    struct bytes instructions;
    uint64_t code_unit;
    int64_t data_unit;
};

/* "zR", and in C++ "zPLR", tell the encoding of pointers. Entries with other letters, such as 'S'
 * for the frame of a signal handler, are refused. */
static void read_augmentation(struct bytes *bytes, const char *letters)
{
    static const uint8_t pointer_bytes[16] = {8, 0, 2, 4, 8, 0, 0, 0, 0, 0, 2, 4, 8};
    const uint64_t length = read_leb(bytes, false);
    struct bytes data = *bytes;
    skip(bytes, length);
    for (const char *letter = letters + 1; *letter && !bytes->bad; letter++) {
        if (*letter == 'L')
            skip(&data, 1);
        else if (*letter == 'P')
            skip(&data, pointer_bytes[read_fixed(&data, 1) & 15]);
        else
            bytes->bad |= *letter != 'R' || read_fixed(&data, 1) != POINTER_USUAL;
    }
    bytes->bad |= data.bad;
}

static bool read_common(const uint8_t *at, struct common *common)
{
    struct bytes bytes = entry_at(at);
    const uint64_t id = read_fixed(&bytes, 4), version = read_fixed(&bytes, 1);
    const char *letters = (const char *)bytes.at;
    if (bytes.bad || id != 0 || (version != 1 && version != 3) || letters[0] != 'z')
        return false;
    skip(&bytes, strlen(letters) + 1);
    common->code_unit = read_leb(&bytes, false);
    common->data_unit = (int64_t)read_leb(&bytes, true);
    const uint64_t return_register = version == 1 ? read_fixed(&bytes, 1) : read_leb(&bytes, false);
    read_augmentation(&bytes, letters);
    common->instructions = bytes;
    return !bytes.bad && return_register == REGISTER_RETURN;
}

/* --- instructions --- */

/* The place where a register of the caller is saved, relative to the CFA. A register that is not
 * saved is unchanged. */
struct place {
    bool saved, strange;
    int64_t offset;
};

struct row {
    uint64_t cfa_register;
    int64_t cfa_offset;
    bool strange; /* the CFA is not a register plus a number */
    bool is_last; /* there is no return address */
    struct place bp, ret;
};

struct machine {
    struct bytes bytes;
    const struct common *common;
    uintptr_t location, target;
    struct row row, initial, remembered[REMEMBERED_MAX];
    unsigned remembered_count;
};

static void set_place(struct machine *machine, uint64_t number, struct place place)
{
    if (number == REGISTER_BP)
        machine->row.bp = place;
    if (number == REGISTER_RETURN)
        machine->row.ret = place;
}

static void restore(struct machine *machine, uint64_t number)
{
    if (number == REGISTER_BP)
        machine->row.bp = machine->initial.bp;
    if (number == REGISTER_RETURN)
        machine->row.ret = machine->initial.ret;
}

static void save(struct machine *machine, uint64_t number, int64_t units)
{
    set_place(machine, number,
              (struct place){.saved = true, .offset = units * machine->common->data_unit});
}

static void advance(struct machine *machine, uint64_t units)
{
    machine->location += units * machine->common->code_unit;
}

static void set_cfa(struct machine *machine, uint64_t number, int64_t offset)
{
    machine->row.cfa_register = number;
    machine->row.cfa_offset = offset;
    machine->row.strange = false;
}

static void remember(struct machine *machine, bool back)
{
    if (back && machine->remembered_count > 0)
        machine->row = machine->remembered[--machine->remembered_count];
    else if (!back && machine->remembered_count < REMEMBERED_MAX)
        machine->remembered[machine->remembered_count++] = machine->row;
    else
        machine->bytes.bad = true;
}

static void run_extended(struct machine *machine, uint64_t opcode)
{
    struct bytes *bytes = &machine->bytes;
    uint64_t number;
    switch (opcode) {
    case 0x00: /* nothing */
        break;
    case 0x02: /* advance by 1, 2, 4 bytes */
    case 0x03:
    case 0x04:
        advance(machine, read_fixed(bytes, (size_t)1 << (opcode - 2)));
        break;
    case 0x05: /* offset */
        number = read_leb(bytes, false);
        save(machine, number, (int64_t)read_leb(bytes, false));
        break;
    case 0x06: /* restore */
        restore(machine, read_leb(bytes, false));
        break;
    case 0x07: /* undefined */
        number = read_leb(bytes, false);
        machine->row.is_last |= number == REGISTER_RETURN;
        set_place(machine, number, (struct place){.strange = true});
        break;
    case 0x08: /* same value */
        set_place(machine, read_leb(bytes, false), (struct place){.saved = false});
        break;
    case 0x0a: /* remember the row, restore it */
    case 0x0b:
        remember(machine, opcode == 0x0b);
        break;
    case 0x0c: /* CFA: register and offset */
        number = read_leb(bytes, false);
        set_cfa(machine, number, (int64_t)read_leb(bytes, false));
        break;
    case 0x0d: /* CFA: register */
        machine->row.cfa_register = read_leb(bytes, false);
        break;
    case 0x0e: /* CFA: offset */
        machine->row.cfa_offset = (int64_t)read_leb(bytes, false);
        break;
    case 0x0f: /* CFA: an expression */
        machine->row.strange = true;
        skip(bytes, read_leb(bytes, false));
        break;
    case 0x10: /* an expression for a register, or for its value */
    case 0x16:
        number = read_leb(bytes, false);
        set_place(machine, number, (struct place){.strange = true});
        skip(bytes, read_leb(bytes, false));
        break;
    case 0x2e: /* the number of bytes of arguments, which is not needed here */
        read_leb(bytes, false);
        break;
    default:
        bytes->bad = true;
    }
}

/* Runs the instructions up to the target address. */
static void run(struct machine *machine, struct bytes instructions)
{
    machine->bytes = instructions;
    while (machine->bytes.at < machine->bytes.end && !machine->bytes.bad) {
        const uint64_t opcode = read_fixed(&machine->bytes, 1);
        const uint64_t low = opcode & 0x3f;
        if (opcode >> 6 == 1)
            advance(machine, low);
        else if (opcode >> 6 == 2)
            save(machine, low, (int64_t)read_leb(&machine->bytes, false));
        else if (opcode >> 6 == 3)
            restore(machine, low);
        else
            run_extended(machine, opcode);
        if (machine->location > machine->target)
            return; /* the row before this instruction holds for the target */
    }
}

/* --- one return address --- */

#define WORD 8
#define WORDS_MAX ((1 << 30) - 1)

/* -1: the number of bytes is negative, not a whole number of words, or too large. */
static int64_t words_of(int64_t bytes)
{
    return bytes >= 0 && bytes % WORD == 0 && bytes / WORD <= WORDS_MAX ? bytes / WORD : -1;
}

static struct frame_rule rule_of(const struct row *row)
{
    const bool from_sp = row->cfa_register == REGISTER_SP;
    const int64_t cfa_words = words_of(row->cfa_offset);
    const int64_t bp_words = row->bp.saved ? words_of(-row->bp.offset) : 0;
    if (row->is_last)
        return (struct frame_rule){.base = FRAME_LAST};
    if (row->strange || row->bp.strange || !row->ret.saved || row->ret.offset != -WORD ||
        (!from_sp && row->cfa_register != REGISTER_BP) || cfa_words < 1 || bp_words < 0)
        return (struct frame_rule){.base = FRAME_NONE};
    return (struct frame_rule){.base = from_sp ? FRAME_FROM_SP : FRAME_FROM_BP,
                               .cfa_words = (uint32_t)cfa_words,
                               .bp_words = (uint32_t)bp_words};
}

/* entry: | length | distance back to its CIE | start, relative | size | augmentation | … */
static struct frame_rule read_entry(const uint8_t *entry, uintptr_t place)
{
    const struct frame_rule none = {.base = FRAME_NONE};
    struct bytes bytes = entry_at(entry);
    struct common common;
    const uint8_t *cie = bytes.at;
    cie -= read_fixed(&bytes, 4);
    const uintptr_t from = (uintptr_t)bytes.at;
    const uintptr_t start = from + (uintptr_t)(intptr_t)(int32_t)read_fixed(&bytes, 4);
    const uint64_t size = read_fixed(&bytes, 4);
    skip(&bytes, read_leb(&bytes, false));
    if (bytes.bad || place - start >= size || !read_common(cie, &common))
        return none;
    struct machine machine = {.common = &common, .location = start, .target = place};
    run(&machine, common.instructions);
    machine.initial = machine.row;
    if (machine.bytes.bad)
        return none;
    run(&machine, bytes);
    return machine.bytes.bad ? none : rule_of(&machine.row);
}

struct search {
    uintptr_t place;
    struct frame_rule rule;
};

static bool is_mapped_by(const struct dl_phdr_info *info, uintptr_t place)
{
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD &&
            place - (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) < info->dlpi_phdr[i].p_memsz)
            return true;
    return false;
}

static int search_object(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct search *search = argument;
    struct unwind_table table;
    uint32_t row;
    (void)size;
    if (!is_mapped_by(info, search->place))
        return 0;
    if (unwind_table_read(info, &table) && unwind_table_find(&table, search->place, &row))
        search->rule = read_entry(unwind_table_entry(&table, row), search->place);
    return 1;
}

struct frame_rule frame_rules_read(uintptr_t return_address)
{
    struct search search = {.place = return_address - 1};
    image_list_iterate(search_object, &search);
    return search.rule;
}

#else

struct frame_rule frame_rules_read(uintptr_t return_address)
{
    (void)return_address;
    return (struct frame_rule){.base = FRAME_NONE};
}

#endif
