/* SPDX-License-Identifier: MIT */
/* Functions by address; see elf_functions.h. */
#include "elf_functions.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"

/*
 * A symbol without a type may be a function written in assembler. Other types hold no code address.
 */
static bool is_function(const GElf_Sym *symbol, const char *name)
{
    unsigned char type = GELF_ST_TYPE(symbol->st_info);
    return name && *name && symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS &&
           (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

/* Counts underscores, because a name with fewer of them is more likely the one that programmers
 * write: "malloc" instead of "__libc_malloc". */
static size_t count_underscores(const char *name)
{
    return strspn(name, "_");
}

/*
 * Sorts functions by start. The search takes the last symbol at an address. Therefore the symbol
 * that covers most bytes comes last; if several cover the same bytes, the one with fewest
 * underscores.
 */
ORDER_BY(compare_functions, struct elf_function, RISING(start), RISING(end),
         ORDER(count_underscores(b->symbol), count_underscores(a->symbol)),
         strcmp(b->symbol, a->symbol));

int elf_functions_load(struct elf_functions *functions, Dwfl_Module *module, struct err *err)
{
    int symbol_count = dwfl_module_getsymtab(module);
    size_t room = symbol_count > 0 ? (size_t)symbol_count : 0;
    *functions = (struct elf_functions){.items = array_new(room, sizeof *functions->items, err)};
    if (!functions->items)
        return -1;
    for (int i = 0; i < symbol_count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name = dwfl_module_getsym_info(module, i, &symbol, &address, NULL, NULL, NULL);
        if (is_function(&symbol, name))
            functions->items[functions->count++] = (struct elf_function){
                .start = address, .end = address + symbol.st_size, .symbol = name};
    }
    SORT(functions->items, functions->count, compare_functions);
    return 0;
}

void elf_functions_release(struct elf_functions *functions)
{
    free(functions->items);
    *functions = (struct elf_functions){0};
}

/* Number of functions that start at or before the address. */
static size_t count_before(const struct elf_functions *functions, uint64_t address)
{
    return SORTED_UP_TO(struct elf_function, start, functions->items, functions->count, address);
}

/*
 * Searches outwards, because functions may be nested: the last function that starts before the
 * address may also end before it.
 */
const char *elf_functions_find(const struct elf_functions *functions, uint64_t address)
{
    enum { ENCLOSING_MAX = 16 };
    size_t count = count_before(functions, address);
    const struct elf_function *nearest = count ? &functions->items[count - 1] : NULL;
    for (size_t i = count; i > 0 && count - i < ENCLOSING_MAX; i--)
        if (address < functions->items[i - 1].end)
            return functions->items[i - 1].symbol;
    return nearest && nearest->end == nearest->start ? nearest->symbol : NULL;
}
