/* SPDX-License-Identifier: MIT */
/* From a file to a trace; see import.h. */
#include "import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "draft.h"
#include "analyzer/util/array.h"

static const struct import_format formats[] = {
#define IMPORT(name, function, summary) {name, summary, import_##function, import_is_##function},
#include "imports.def"
};

/* Both texts begin with a separator, which import_names and import_summaries skip. */
static const char names[] =
#define IMPORT(name, function, summary) "|" name
#include "imports.def"
    ;
static const char summaries[] =
#define IMPORT(name, function, summary) "; " name ": " summary
#include "imports.def"
    ;
const char *const import_names = names + 1;
const char *const import_summaries = summaries + 2;

static int read_all(struct import_source *source, FILE *file, struct err *err)
{
    size_t capacity = 0, got;
    do {
        if (ARRAY_GROW(source->bytes, capacity, source->length, err))
            return -1;
        got = fread(source->bytes + source->length, 1, capacity - source->length, file);
        source->length += got;
    } while (got && !import_is_database(source));
    if (!ferror(file))
        return 0;
    return err_set(err, ERR_INPUT, "cannot read %s: %s", source->path, strerror(errno));
}

static int read_file(struct import_source *source, struct err *err)
{
    struct stat status;
    FILE *file = NULL;
    int result = -1;
    if (stat(source->path, &status) == 0 && S_ISDIR(status.st_mode))
        errno = EISDIR;
    else
        file = fopen(source->path, "re");
    if (!file)
        return err_set(err, ERR_INPUT, "cannot open %s: %s", source->path, strerror(errno));
    result = read_all(source, file, err);
    fclose(file);
    return result;
}

static int find_format(struct import *import, const char *name, struct err *err)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats && !import->format; i++)
        if (name ? !strcmp(formats[i].name, name) : formats[i].recognizes(&import->source))
            import->format = &formats[i];
    if (import->format)
        return 0;
    return err_set(err, ERR_INPUT, "%s is not in a known format; name its format with --from=%s",
                   import->source.path, import_names);
}

int import_open(struct import *import, const char *path, const char *name, struct err *err)
{
    *import = (struct import){.source.path = path};
    if (!read_file(&import->source, err) && !find_format(import, name, err))
        return 0;
    import_close(import);
    return -1;
}

int import_write(struct import *import, const char *output, struct err *err)
{
    struct draft *draft = draft_begin(output, err);
    if (!draft)
        return -1;
    if (draft_set_text(draft, META_imported_format, import->format->name, err) ||
        draft_set_text(draft, META_imported_from, import->source.path, err) ||
        import->format->import(&import->source, draft, err)) {
        draft_abandon(draft);
        return -1;
    }
    return draft_end(draft, &import->event_count, err);
}

void import_close(struct import *import)
{
    free(import->source.bytes);
    import->source.bytes = NULL;
}

const struct import_format *import_recognize(const char *path)
{
    enum { HEAD_BYTES = 65536 };
    unsigned char *head = malloc(HEAD_BYTES);
    const struct import_format *found = NULL;
    FILE *file = head ? fopen(path, "re") : NULL;

    if (file) {
        const struct import_source source = {
            .path = path, .bytes = head, .length = fread(head, 1, HEAD_BYTES, file)};
        for (size_t i = 0; i < sizeof formats / sizeof *formats && !found; i++)
            if (formats[i].recognizes(&source))
                found = &formats[i];
        fclose(file);
    }
    free(head);
    return found;
}
