/* SPDX-License-Identifier: MIT */
/* Names of NVIDIA's libraries and functions. See families.h. */
#include "families.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *const sonames[] = {
#define DRIVER(soname) soname,
#define RUNTIME(soname, version) soname,
#define STANDIN(soname, list, symbol_version, runtime) soname,
#include "simulator/libraries.def"
};

/* The length of the name before its version or hash. */
static size_t stem_length(const char *soname)
{
    const char *end = strstr(soname, ".so");
    const char *dash = strrchr(soname, '-');
    const size_t hash_letters = 8;
    if (!end)
        return 0;
    if (dash && dash < end && (size_t)(end - dash) == hash_letters + 1 &&
        strspn(dash + 1, "0123456789abcdef") >= hash_letters)
        end = dash;
    return (size_t)(end - soname);
}

/* The version in the name; 0: none. */
static double version_of(const char *soname)
{
    const char *end = strstr(soname, ".so.");
    return end ? strtod(end + strlen(".so."), NULL) : 0;
}

static bool is_part_of(const char *soname, size_t stem, const char *whole)
{
    const size_t length = stem_length(whole);
    if (stem < length || strncmp(soname, whole, length) != 0)
        return false;
    return stem == length || soname[length] == '_';
}

/* Whether stand-in a suits the version better than b. The best stand-in has the lowest version that
 * is not below the given version. If there is none, the highest version is best. */
static bool is_better(const char *a, const char *b, double version)
{
    const bool a_serves = version > 0 && version_of(a) >= version;
    const bool b_serves = version > 0 && version_of(b) >= version;
    if (a_serves != b_serves)
        return a_serves;
    return a_serves ? version_of(a) < version_of(b) : version_of(a) > version_of(b);
}

const char *family_standin(const char *soname)
{
    const size_t stem = stem_length(soname);
    const char *found = NULL;
    for (size_t i = 0; stem && i < sizeof sonames / sizeof *sonames; i++) {
        if (!is_part_of(soname, stem, sonames[i]))
            continue;
        if (!found || is_better(sonames[i], found, version_of(soname)))
            found = sonames[i];
    }
    return found;
}

static bool begins_function(const char *name, const char *first_letters)
{
    const size_t length = strlen(first_letters);
    return !strncmp(name, first_letters, length) && strlen(name) > length &&
           !islower((unsigned char)name[length]);
}

bool family_has_function(const char *name, int *not_supported)
{
    static const struct {
        const char *first_letters;
        int not_supported;
    } families[] = {
#define FAMILY(first_letters, not_supported) {first_letters, not_supported},
#include "families.def"
    };
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (begins_function(name, families[i].first_letters)) {
            *not_supported = families[i].not_supported;
            return true;
        }
    return false;
}
