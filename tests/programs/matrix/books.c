/* SPDX-License-Identifier: MIT */
/*
 * Runs families one after the other and keeps the books. Each event that the trace must have is
 * printed when it is booked, and is added to its account, as the manual defines accounts.
 */
#include "matrix.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "gpumemtrace/gpumemtrace.h"

const struct driver_api *driver;
const struct runtime_api *runtime;
CUcontext primary;

static struct books *books;
static jmp_buf family_end;
static char reason[200];
static char last_api[100]; /* the last symbol called */
static int last_status, event_count;

/* --- accounts of kinds of memory: written a second time on purpose, without memory.def --- */

static enum account_kind account_of(enum memory_kind memory)
{
    switch (memory) {
    case MEMORY_LINEAR:
    case MEMORY_PITCHED:
    case MEMORY_ARRAY:
    case MEMORY_ASYNC:
    case MEMORY_VMM:
    case MEMORY_GRAPH:
        return ACCOUNT_device;
    case MEMORY_MANAGED:
    case MEMORY_ASYNC_MANAGED:
        return ACCOUNT_managed;
    case MEMORY_PINNED:
    case MEMORY_REGISTERED:
    case MEMORY_VMM_HOST:
    case MEMORY_ASYNC_HOST:
        return ACCOUNT_host;
    case MEMORY_IMPORTED:
    case MEMORY_IMPORTED_VMM:
    case MEMORY_EXTERNAL:
        return ACCOUNT_imported;
    default:
        return ACCOUNT_none; /* has addresses only */
    }
}

static const char *const kind_names[] = {
#define EVENT_KIND(name, text, meaning) text,
#include "gpumemtrace/schema/event_kinds.def"
};
static const char *const memory_names[] = {
#define MEMORY(name, layer, account, text) text,
#include "gpumemtrace/schema/memory.def"
};

static bool goes_with_its_context(enum memory_kind memory)
{
    return memory == MEMORY_LINEAR || memory == MEMORY_PITCHED || memory == MEMORY_ARRAY ||
           memory == MEMORY_MANAGED || memory == MEMORY_PINNED || memory == MEMORY_REGISTERED;
}

void book_grow(enum memory_kind memory, uint64_t bytes)
{
    struct account *account = &books->accounts[account_of(memory)];
    account->live_bytes += bytes;
    if (account->live_bytes > account->peak_bytes)
        account->peak_bytes = account->live_bytes;
}

void book_take(enum memory_kind memory, uint64_t bytes)
{
    struct account *account = &books->accounts[account_of(memory)];
    account->allocations++;
    account->bound_count += goes_with_its_context(memory);
    account->bound_bytes += goes_with_its_context(memory) ? bytes : 0;
    book_grow(memory, bytes);
}

static struct account *shrink(enum memory_kind memory, uint64_t bytes)
{
    struct account *account = &books->accounts[account_of(memory)];
    account->live_bytes -= bytes;
    account->bound_count -= goes_with_its_context(memory);
    account->bound_bytes -= goes_with_its_context(memory) ? bytes : 0;
    return account;
}

/* --- booking --- */

static void put(const char *key, uint64_t value)
{
    if (value != UNSAID)
        printf(", \"%s\": %" PRIu64, key, value);
}

void book_event(enum event_kind kind, enum memory_kind memory, uint64_t address, uint64_t bytes,
                uint64_t object)
{
    printf("%s\n  {\"kind\": \"%s\", \"api\": \"%s\", \"result\": %d", event_count++ ? "," : "",
           kind_names[kind], last_api, last_status);
    if (memory != MEMORY_NONE)
        printf(", \"memory\": \"%s\"", memory_names[memory]);
    put("address", address);
    put("size_bytes", bytes);
    put("object", object);
    printf("}");
}

void book_alloc_of(enum memory_kind memory, uint64_t address, uint64_t bytes, uint64_t object)
{
    book_take(memory, bytes);
    book_event(EVENT_ALLOC, memory, address, bytes, object);
}

void book_alloc(enum memory_kind memory, uint64_t address, uint64_t bytes)
{
    book_alloc_of(memory, address, bytes, UNSAID);
}

void book_alloc_in_pool(enum memory_kind memory, uint64_t address, uint64_t bytes, uint64_t pool)
{
    book_take(memory, bytes);
    book_event(EVENT_ALLOC, MEMORY_ASYNC, address, bytes, pool);
}

void book_failed(enum memory_kind memory, uint64_t bytes)
{
    books->accounts[account_of(memory)].failed++;
    book_event(EVENT_ALLOC, memory, UNSAID, bytes, UNSAID);
}

void book_release(uint64_t handle)
{
    book_event(EVENT_FREE, MEMORY_NONE, handle, UNSAID, UNSAID);
}

void book_end(enum memory_kind memory, uint64_t bytes)
{
    shrink(memory, bytes)->frees++;
}

void book_free(enum memory_kind memory, uint64_t address, uint64_t bytes)
{
    book_release(address);
    book_end(memory, bytes);
}

void book_implicit(enum memory_kind memory, uint64_t bytes)
{
    shrink(memory, bytes)->implicit_frees++;
}

void book_all_implicit(void)
{
    for (size_t i = 0; i < ACCOUNT_COUNT; i++) {
        struct account *account = &books->accounts[i];
        account->implicit_frees += account->bound_count;
        account->live_bytes -= account->bound_bytes;
        account->bound_count = account->bound_bytes = 0;
    }
}

/* --- calls --- */

static const char *form_of(const char *symbol)
{
    for (size_t i = 0; driver && driver->per_thread && i < driver_name_count; i++)
        if (strcmp(driver_names[i].symbol, symbol) == 0)
            return driver_names[i].suffix;
    for (size_t i = 0; runtime && runtime->per_thread && i < runtime_name_count; i++)
        if (strcmp(runtime_names[i].symbol, symbol) == 0)
            return runtime_names[i].suffix;
    return "";
}

void family_needs(bool met, const char *why)
{
    if (met)
        return;
    snprintf(reason, sizeof reason, "%s", why);
    longjmp(family_end, 1);
}

void family_needs_simulator(const char *why)
{
    family_needs(getenv("GPUMEMTRACE_SIM") != NULL, why);
}

int family_external_memory(uint64_t bytes)
{
    family_needs_simulator("there is no other API to take memory from");
    const int descriptor = memfd_create("matrix", MFD_CLOEXEC);
    family_needs(descriptor >= 0 && ftruncate(descriptor, (off_t)bytes) == 0, "no file");
    return descriptor;
}

void family_last_called(const char *symbol)
{
    snprintf(last_api, sizeof last_api, "%s%s", symbol, form_of(symbol));
}

void family_calls(bool reached, const char *symbol)
{
    family_last_called(symbol);
    if (reached)
        return;
    snprintf(reason, sizeof reason, "%s: not handed out", last_api);
    longjmp(family_end, 1);
}

void family_refused(int wanted, int status)
{
    last_status = status;
    if (status == wanted)
        return;
    snprintf(reason, sizeof reason, "%s: %d where %d was expected", last_api, status, wanted);
    longjmp(family_end, 1);
}

void family_called(int status)
{
    family_refused(0, status);
}

/* --- running --- */

struct family {
    const char *api, *name;
    void (*run)(void);
};

static const struct family families[] = {
#define FAMILY(api, name, forms, text) {#api, #name, api##_##name},
#include "families.def"
};

static void run(const struct family *family)
{
    char mark[100];
    const int version = runtime ? runtime->version : 0;
    snprintf(mark, sizeof mark, "%s %d %s", family->api, version, family->name);
    printf("%s\n {\"mark\": \"%s\", \"events\": [", books->written++ ? "," : "", mark);
    reason[0] = '\0';
    event_count = 0;
    gpumemtrace_mark(mark);
    if (setjmp(family_end) == 0)
        family->run();
    gpumemtrace_mark("end");
    printf("], \"reason\": \"%s\"}", reason);
    fflush(stdout);
}

static void run_all(const struct matrix_job *job, const char *api)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].api, api) == 0 &&
            (!job->family || strcmp(job->family, families[i].name) == 0))
            run(&families[i]);
}

void matrix_run(const struct matrix_job *job)
{
    books = job->books;
    primary = job->primary;
    driver = job->driver;
    if (driver)
        run_all(job, "driver");
    driver = NULL;
    runtime = job->runtime;
    if (runtime)
        run_all(job, "runtime");
    runtime = NULL;
}
