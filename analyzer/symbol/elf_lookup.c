/* SPDX-License-Identifier: MIT */
/* One ELF file's symbols and debug information; see elf_lookup.h. */
#include "symbol/elf_lookup.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct elf_lookup {
    Dwfl *session;
    Dwfl_Module *module;
    const char *path;
};

/* Where the code of one scope was written or called from. */
struct place {
    const char *file;
    uint32_t line;
};

static bool is_same_build(Dwfl_Module *module, const char *wanted)
{
    const unsigned char *bits;
    GElf_Addr address;
    int length = dwfl_module_build_id(module, &bits, &address);
    char hex[129] = "";

    if (!wanted || length <= 0)
        return !wanted;
    for (int i = 0; i < length && i < 64; i++)
        snprintf(hex + 2 * i, 3, "%02x", bits[i]);
    return !strcmp(hex, wanted);
}

struct elf_lookup *elf_lookup_open(const struct trace_module *module)
{
    static char *debug_path; /* NULL: the system's usual places */
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = &debug_path,
    };
    struct elf_lookup *lookup = calloc(1, sizeof *lookup);

    if (!lookup)
        return NULL;
    lookup->path = module->path;
    lookup->session = dwfl_begin(&callbacks);
    if (!lookup->session)
        goto unusable;
    dwfl_report_begin(lookup->session);
    lookup->module = dwfl_report_elf(lookup->session, module->path, module->path, -1,
                                     module->load_address, true);
    dwfl_report_end(lookup->session, NULL, NULL);
    if (lookup->module && is_same_build(lookup->module, module->build_id))
        return lookup;
unusable:
    elf_lookup_close(lookup);
    return NULL;
}

void elf_lookup_close(struct elf_lookup *lookup)
{
    if (!lookup)
        return;
    if (lookup->session)
        dwfl_end(lookup->session);
    free(lookup);
}

static struct place place_of(const struct elf_lookup *lookup, uint64_t address)
{
    struct place place = {0};
    Dwfl_Line *line = dwfl_module_getsrc(lookup->module, address);
    int number = 0;

    if (line)
        place.file = dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL);
    place.line = number > 0 ? (uint32_t)number : 0;
    return place;
}

static struct place call_place(Dwarf_Die *unit, Dwarf_Die *inlined)
{
    struct place place = {0};
    Dwarf_Attribute attribute;
    Dwarf_Files *files;
    Dwarf_Word value;

    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &value) == 0 &&
        dwarf_getsrcfiles(unit, &files, NULL) == 0)
        place.file = dwarf_filesrc(files, value, NULL, NULL);
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &value) == 0)
        place.line = (uint32_t)value;
    return place;
}

static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));

    return name ? name : dwarf_diename(die);
}

/* Inlined calls around the address, innermost first; *place moves on to the caller's line. */
static size_t find_inlined(const struct elf_lookup *lookup, uint64_t address,
                           struct symbol_frame *frames, size_t limit, struct place *place)
{
    Dwarf_Addr bias;
    Dwarf_Die *unit = dwfl_module_addrdie(lookup->module, address, &bias);
    Dwarf_Die *by_address = NULL, *scopes = NULL;
    int count = unit ? dwarf_getscopes(unit, address - bias, &by_address) : 0;
    size_t found = 0;

    /* By address the outer scopes are those of the definition; by DIE, of the inlined copy. */
    if (count > 0)
        count = dwarf_getscopes_die(&by_address[0], &scopes);
    for (int i = 0; i < count && found + 1 < limit; i++) {
        const char *name;

        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
            break;
        if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
            continue;
        name = name_of(&scopes[i]);
        frames[found++] = (struct symbol_frame){.kind = "inlined",
                                                .function = name ? name : "?",
                                                .file = place->file,
                                                .line = place->line,
                                                .module = lookup->path};
        *place = call_place(unit, &scopes[i]);
    }
    free(by_address);
    free(scopes);
    return found;
}

size_t elf_lookup_find(struct elf_lookup *lookup, uint64_t address, struct symbol_frame *frames,
                       size_t limit)
{
    const char *function = dwfl_module_addrname(lookup->module, address);
    struct place place = place_of(lookup, address);
    size_t count = find_inlined(lookup, address, frames, limit, &place);

    if (!function && !count)
        return 0;
    frames[count++] = (struct symbol_frame){.kind = "native",
                                            .function = function ? function : "?",
                                            .file = place.file,
                                            .line = place.line,
                                            .module = lookup->path};
    return count;
}
