/* SPDX-License-Identifier: MIT */
/* Symbols and debug information of one ELF file; see elf_lookup.h. */
#include "elf_lookup.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "demangle.h"
#include "dwarf_scopes.h"
#include "dwarf_units.h"
#include "elf_functions.h"
#include "gpumemtrace/compiler.h"

struct elf_lookup {
    struct elf_files *files;
    const char *build_id;
    Dwfl *session;
    Dwfl_Module *module;
    bool is_loaded; /* the members below are loaded */
    struct elf_functions functions;
    struct dwarf_units units;
    Dwarf_Addr units_bias;
};

/* Source line of a call, or of an address. */
struct source_line {
    const char *file;
    uint32_t line;
};

/* --- the file --- */

/*
 * Finds debug information of a stripped file: in the --debug-dir folders, else in the usual
 * folders.
 */
static int find_debug_info(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                           const char *path, const char *link, GElf_Word checksum, char **found)
{
    const struct elf_lookup *lookup = *user;
    const char *own = lookup ? elf_files_find_debug(lookup->files, lookup->build_id) : NULL;
    int file = own ? open(own, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return dwfl_standard_find_debuginfo(module, user, name, base, path, link, checksum, found);
    *found = strdup(own);
    return file;
}

struct elf_lookup *elf_lookup_open(struct elf_files *files, const struct trace_module *module,
                                   const char *path)
{
    static char *debug_path; /* NULL: the system's usual folders */
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = find_debug_info,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = &debug_path,
    };
    struct elf_lookup *lookup = calloc(1, sizeof *lookup);
    void **user;
    if (!lookup)
        return NULL;
    lookup->files = files;
    lookup->build_id = module->build_id;
    lookup->session = dwfl_begin(&callbacks);
    if (lookup->session) {
        dwfl_report_begin(lookup->session);
        lookup->module =
            dwfl_report_elf(lookup->session, path, path, -1, module->load_address, true);
        dwfl_report_end(lookup->session, NULL, NULL);
    }
    if (!lookup->module ||
        !dwfl_module_info(lookup->module, &user, NULL, NULL, NULL, NULL, NULL, NULL)) {
        elf_lookup_close(lookup);
        return NULL;
    }
    *user = lookup;
    return lookup;
}

void elf_lookup_close(struct elf_lookup *lookup)
{
    if (!lookup)
        return;
    elf_functions_release(&lookup->functions);
    dwarf_units_release(&lookup->units);
    if (lookup->session)
        dwfl_end(lookup->session);
    free(lookup);
}

/*
 * libdw's handler for exhausted memory. It must not return, and libdw's own handler prints no
 * advice.
 */
GMT_NORETURN static void end_without_memory(void)
{
    static const char line[] = "gpumemtrace: out of memory for debug information: "
                               "--memory-limit=SIZE changes the limit\n";
    const ssize_t ignored = write(STDERR_FILENO, line, sizeof line - 1);
    (void)ignored;
    _exit(2);
}

static int load_debug_info(struct elf_lookup *lookup, struct err *err)
{
    if (lookup->is_loaded)
        return 0;
    lookup->is_loaded = true;
    Dwarf *dwarf = dwfl_module_getdwarf(lookup->module, &lookup->units_bias);
    if (dwarf)
        dwarf_new_oom_handler(dwarf, end_without_memory);
    if (dwarf && dwarf_units_load(&lookup->units, dwarf, err))
        return -1;
    return elf_functions_load(&lookup->functions, lookup->module, err);
}

/* --- source lines --- */

static struct source_line line_at(Dwarf_Die *unit, Dwarf_Addr address)
{
    struct source_line found = {0};
    Dwarf_Line *line = dwarf_getsrc_die(unit, address);
    int number = 0;
    if (line)
        found.file = dwarf_linesrc(line, NULL, NULL);
    if (line && dwarf_lineno(line, &number) == 0 && number > 0)
        found.line = (uint32_t)number;
    return found;
}

static struct source_line call_line(Dwarf_Die *unit, Dwarf_Die *inlined)
{
    struct source_line found = {0};
    Dwarf_Attribute attribute;
    Dwarf_Files *files;
    Dwarf_Word value;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &value) == 0 &&
        dwarf_getsrcfiles(unit, &files, NULL) == 0)
        found.file = dwarf_filesrc(files, value, NULL, NULL);
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &value) == 0)
        found.line = (uint32_t)value;
    return found;
}

/* --- functions --- */

/* Demangles the linker's name, because it tells most. If there is none, uses the name in the
 * declaration. NULL: there is no name. */
static char *readable_name(const char *symbol, Dwarf_Die *scope)
{
    if (!symbol && scope)
        return dwarf_scope_name(scope);
    return symbol ? demangle(symbol) : NULL;
}

/* Fills one frame. `texts` owns its name. */
static int fill_frame(struct symbol_frame *frame, const char *kind, char *function,
                      const struct source_line *line, struct owned_texts *texts, struct err *err)
{
    *frame = (struct symbol_frame){
        .kind = kind, .function = "?", .file = line->file, .line = line->line};
    if (function)
        frame->function = owned_texts_take(texts, function, err);
    return frame->function ? 0 : -1;
}

/* Fills frames of inlined calls, innermost first. *line becomes the line of the outermost call. */
static int fill_inlined(Dwarf_Die *unit, Dwarf_Die *scopes, int count, struct symbol_frame *frames,
                        struct source_line *line, struct owned_texts *texts, struct err *err)
{
    for (int i = 0; i < count; i++) {
        Dwarf_Die *scope = &scopes[count - 1 - i];
        if (fill_frame(&frames[i], "inlined", readable_name(dwarf_scope_symbol(scope), scope), line,
                       texts, err))
            return -1;
        *line = call_line(unit, scope);
    }
    return 0;
}

/* The debug information for one address. */
struct dwarf_answer {
    Dwarf_Die unit; /* contains the scopes */
    Dwarf_Die scopes[ELF_LOOKUP_FRAMES_MAX];
    int count; /* 0: unknown function; the line may be known */
    struct source_line line;
};

static int ask_dwarf(struct elf_lookup *lookup, Dwarf_Addr address, struct dwarf_answer *answer,
                     struct err *err)
{
    struct dwarf_unit *unit = dwarf_units_find(&lookup->units, address);
    answer->count = 0;
    answer->line = (struct source_line){0};
    if (!unit)
        return 0;
    answer->line = line_at(&unit->die, address);
    answer->unit = dwarf_unit_scopes(unit);
    if (dwarf_functions_load(&unit->functions, &answer->unit, err))
        return -1;
    Dwarf_Die *function = dwarf_functions_find(&unit->functions, address);
    if (function)
        answer->count = dwarf_scopes_find(function, address, answer->scopes, ELF_LOOKUP_FRAMES_MAX);
    return 0;
}

int elf_lookup_find(struct elf_lookup *lookup, uint64_t address, struct symbol_frame *frames,
                    struct owned_texts *texts, struct err *err)
{
    struct dwarf_answer found;
    const char *symbol = NULL;
    if (load_debug_info(lookup, err) ||
        ask_dwarf(lookup, address - lookup->units_bias, &found, err))
        return -1;
    if (found.count > 0)
        symbol = dwarf_scope_symbol(&found.scopes[0]);
    if (!symbol)
        symbol = elf_functions_find(&lookup->functions, address);
    if (found.count == 0 && !symbol)
        return 0;
    int inlined = found.count > 0 ? found.count - 1 : 0;
    if (fill_inlined(&found.unit, found.scopes + 1, inlined, frames, &found.line, texts, err) ||
        fill_frame(&frames[inlined], "native",
                   readable_name(symbol, found.count ? found.scopes : NULL), &found.line, texts,
                   err))
        return -1;
    return inlined + 1;
}

bool elf_lookup_is_signal_return(struct elf_lookup *lookup, uint64_t address)
{
    Dwarf_Addr bias;
    Dwarf_CFI *unwinding = dwfl_module_eh_cfi(lookup->module, &bias);
    Dwarf_Frame *frame = NULL;
    bool is_signal = false;
    if (unwinding && dwarf_cfi_addrframe(unwinding, address - bias, &frame) == 0)
        dwarf_frame_info(frame, NULL, NULL, &is_signal);
    free(frame);
    return is_signal;
}
