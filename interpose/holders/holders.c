/* SPDX-License-Identifier: MIT */
/*
 * See holders.h. Except for the counters, the GIL protects all variables of this file.
 */
#include "holders.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "common/values_file.h"
#include "gpumemtrace/compiler.h"
#include "interpose/cuda/device.h"
#include "interpose/recording/log.h"
#include "interpose/recording/recording.h"
#include "python_api.h"
#include "rows.h"
#include "signal.h"

#define GROWTH_WALKS_MAX 12
#define FAILURE_WALKS_MAX 12
/* Programs make many small allocations while they start. So the first walk for growth comes after
 * this many allocations, and the next one after twice as many. */
#define FIRST_ALLOCATIONS 64
#define FIRST_BYTES (INT64_C(1) << 20)
#define NEVER INT64_MAX
#define SWITCH_S 0.5

extern const char holders_source[];

/* --- counters --- */

/* Relaxed, because a walk that comes a little earlier or later does no harm. */
static struct {
    _Atomic int64_t live_bytes, allocations_count;
    _Atomic int64_t next_bytes, next_count; /* both must be reached before the next pending call */
    _Atomic uint64_t generation;            /* of the recording that they count for */
} counters;

static int64_t load(_Atomic int64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

static void store(_Atomic int64_t *counter, int64_t value)
{
    atomic_store_explicit(counter, value, memory_order_relaxed);
}

/* --- running walk.py --- */

static struct walk_row walk; /* the walk that runs, or the last one */
static bool is_running, is_attached;
static unsigned growth_walks, failure_walks;
static uint64_t walks_generation;

static void *row(void *self, void *arguments);
static void *done(void *self, void *arguments);
static void *keep(void *self, void *arguments);
static void *hand_on(void *self, void *arguments);
static void *at_failure(void *self, void *arguments);
static void *at_end(void *self, void *arguments);
static void *after_fork(void *self, void *arguments);

/* PyMethodDef. flags 1: the function takes a tuple of arguments. */
static struct method {
    const char *name;
    void *(*function)(void *self, void *arguments);
    int flags;
    const char *text;
} methods[] = {{"row", row, 1, NULL},
               {"done", done, 1, NULL},
               {"keep", keep, 1, NULL},
               {"hand_on", hand_on, 1, NULL},
               {"at_failure", at_failure, 1, NULL},
               {"at_end", at_end, 1, NULL},
               {"after_fork", after_fork, 1, NULL}};

static void *nothing(const struct python_api *api)
{
    return api->PyLong_FromLong(0);
}

static void *row(void *self, void *arguments)
{
    const struct python_api *api = python_api();
    struct thread *thread = thread_current();
    struct holder_row found = {0};
    (void)self;
    if (!api->PyArg_ParseTuple(arguments, "KKsszLzzi", &found.address, &found.size_bytes,
                               &found.kind, &found.chain, &found.item, &found.items_count,
                               &found.function, &found.file, &found.line))
        return NULL;
    if (thread)
        rows_write_holder(thread, &walk, &found);
    return nothing(api);
}

static void *done(void *self, void *arguments)
{
    const struct python_api *api = python_api();
    struct thread *thread = thread_current();
    (void)self;
    if (!api->PyArg_ParseTuple(arguments, "Kz", &walk.objects_count, &walk.stopped))
        return NULL;
    if (thread)
        rows_write_walk(thread, &walk);
    walk.stopped = NULL;
    return nothing(api);
}

/* The code of the program's main module, which Python drops when the module has run; NULL: not
 * known. It holds no objects but constants. */
static void *main_code;

static void *keep(void *self, void *arguments)
{
    const struct python_api *api = python_api();
    void *code;
    (void)self;
    if (!api->PyArg_ParseTuple(arguments, "O", &code))
        return NULL;
    api->Py_IncRef(code);
    main_code = code;
    return nothing(api);
}

static int raise_now(void *exception)
{
    const struct python_api *api = python_api();
    if (is_running && !api->Py_AddPendingCall(raise_now, exception))
        return 0; /* after this walk */
    void *type = api->PyObject_Type(exception);
    api->PyErr_SetObject(type, exception);
    api->Py_DecRef(type);
    api->Py_DecRef(exception);
    return -1;
}

static void raise_later(const struct python_api *api, void *exception)
{
    api->Py_IncRef(exception);
    if (api->Py_AddPendingCall(raise_now, exception))
        api->Py_DecRef(exception);
}

/* Raises an exception of the program's own signal handler in the main thread, soon after the walk,
 * as Python would have done without it. */
static void *hand_on(void *self, void *arguments)
{
    const struct python_api *api = python_api();
    void *exception;
    (void)self;
    if (!api->PyArg_ParseTuple(arguments, "O", &exception))
        return NULL;
    raise_later(api, exception);
    return nothing(api);
}

static bool set_item(const struct python_api *api, void *names, const char *name, void *value)
{
    const bool is_set = value && !api->PyDict_SetItemString(names, name, value);
    if (value)
        api->Py_DecRef(value);
    return is_set;
}

/* The walk changes this in the interpreter, until its end. */
static struct {
    void *names, *gc, *sys, *interval; /* interval: seconds after which another thread may run */
    bool was_collecting;
} paused;

static bool fill_names(const struct python_api *api, void *names, const char *reason)
{
    bool is_filled = set_item(api, names, "reason", api->PyUnicode_FromString(reason));
    for (size_t i = 0; is_filled && i < sizeof methods / sizeof *methods; i++)
        is_filled =
            set_item(api, names, methods[i].name, api->PyCFunction_NewEx(&methods[i], NULL, NULL));
    void *code = main_code ? main_code : nothing(api);
    is_filled = is_filled && !api->PyDict_SetItemString(names, "main_code", code) &&
                !api->PyDict_SetItemString(names, "__builtins__", api->PyEval_GetBuiltins()) &&
                paused.interval &&
                !api->PyDict_SetItemString(names, "switch_interval", paused.interval);
    if (!main_code)
        api->Py_DecRef(code);
    return is_filled;
}

/* Replaces an object by one of its attributes. */
static void *attribute_of(const struct python_api *api, void *object, const char *name)
{
    void *value = object ? api->PyObject_GetAttrString(object, name) : NULL;
    if (object)
        api->Py_DecRef(object);
    return value;
}

/* Was the exception raised in a file of the program, where only a signal handler can run now? The
 * files of the walk, and of its imports, have names like "<frozen importlib>". */
static bool is_of_handler(const struct python_api *api, void *exception)
{
    void *trace = api->PyObject_GetAttrString(exception, "__traceback__");
    void *next = trace ? api->PyObject_GetAttrString(trace, "tb_next") : NULL;
    const char *file = NULL;
    while (next && api->PyObject_IsTrue(next) > 0) {
        api->Py_DecRef(trace);
        trace = next;
        next = api->PyObject_GetAttrString(trace, "tb_next");
    }
    if (next)
        api->Py_DecRef(next); /* None */
    void *name = attribute_of(
        api, attribute_of(api, attribute_of(api, trace, "tb_frame"), "f_code"), "co_filename");
    if (name)
        file = api->PyUnicode_AsUTF8(name);
    const bool is_of_program = file && *file != '<';
    if (name)
        api->Py_DecRef(name);
    return is_of_program;
}

/* Returns whether the error was an exception of the program, which is then raised later. */
static bool clear_error(const struct python_api *api)
{
    void *type = NULL, *value = NULL, *traceback = NULL;
    api->PyErr_Fetch(&type, &value, &traceback);
    api->PyErr_NormalizeException(&type, &value, &traceback);
    if (value && traceback)
        api->PyException_SetTraceback(value, traceback);
    const bool is_foreign = value && is_of_handler(api, value);
    if (is_foreign)
        raise_later(api, value);
    api->PyErr_Restore(type, value, traceback);
    api->PyErr_Clear();
    return is_foreign;
}

static void release(const struct python_api *api, void **object)
{
    void *const released = *object;
    *object = NULL;
    if (released)
        api->Py_DecRef(released);
}

/* Nothing of the walk may outlive it, so its names are cleared, which frees its functions. */
static bool run_source(const struct python_api *api, const char *reason)
{
    enum { FILE_INPUT = 257 };
    void *names = paused.names = api->PyDict_New();
    void *code = names && fill_names(api, names, reason)
                     ? api->Py_CompileString(holders_source, VALUES_FILE, FILE_INPUT)
                     : NULL;
    void *result = code ? api->PyEval_EvalCode(code, names, names) : NULL;
    /* A compilation runs no handler, but hooks of sys.addaudithook. */
    const bool is_good = result || (code && clear_error(api));
    if (result)
        api->Py_DecRef(result);
    if (names)
        api->PyDict_Clear(names);
    if (code)
        api->Py_DecRef(code);
    release(api, &paused.names);
    return is_good;
}

/* Calls a function of a module that takes no argument. NULL: an error. */
static void *call(const struct python_api *api, void *module, const char *name)
{
    return module ? api->PyObject_CallMethod(module, name, NULL) : NULL;
}

/* No collection may run during the walk: it would free objects of the program earlier than without
 * the walk. Other threads run more rarely; if one takes over, the walk waits as long for its turn.
 */
static void pause_python(const struct python_api *api)
{
    paused.gc = api->PyImport_ImportModule("gc");
    paused.sys = api->PyImport_ImportModule("sys");
    paused.interval = call(api, paused.sys, "getswitchinterval");
    void *is_enabled = call(api, paused.gc, "isenabled");
    paused.was_collecting = is_enabled && api->PyObject_IsTrue(is_enabled) > 0;
    void *disabled = call(api, paused.gc, "disable");
    void *set = paused.interval
                    ? api->PyObject_CallMethod(paused.sys, "setswitchinterval", "d", SWITCH_S)
                    : NULL;
    release(api, &is_enabled);
    release(api, &disabled);
    release(api, &set);
}

static void resume_python(const struct python_api *api)
{
    void *enabled = paused.was_collecting ? call(api, paused.gc, "enable") : NULL;
    void *set = paused.interval ? api->PyObject_CallMethod(paused.sys, "setswitchinterval", "O",
                                                           paused.interval)
                                : NULL;
    release(api, &enabled);
    release(api, &set);
    release(api, &paused.gc);
    release(api, &paused.sys);
    release(api, &paused.interval);
}

/* In a child process that another thread forked during the walk, the walk does not go on. */
static void *after_fork(void *self, void *arguments)
{
    const struct python_api *api = python_api();
    (void)self, (void)arguments;
    if (is_running) {
        resume_python(api);
        if (paused.names)
            api->PyDict_Clear(paused.names);
        api->PyErr_Clear();
        is_running = false;
    }
    return nothing(api);
}

/* No function of sys.settrace and sys.setprofile may run during the walk. No signal handler of the
 * program should run either; hand_on is for those that do, because another thread took the signal.
 */
static void run(const struct python_api *api, const char *reason)
{
    sigset_t all, signals;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &signals);
    void *type, *value, *traceback;
    api->PyErr_Fetch(&type, &value, &traceback);
    is_running = true;
    if (api->enter_tracing)
        api->enter_tracing(api->thread_state());
    pause_python(api);
    if (!run_source(api, reason))
        log_once("the walk over Python's objects failed; the trace does not say which variables "
                 "keep memory alive");
    resume_python(api);
    if (api->enter_tracing)
        api->leave_tracing(api->thread_state());
    api->PyErr_Clear();
    is_running = false;
    api->PyErr_Restore(type, value, traceback);
    pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

/* While there are subinterpreters, the GIL may be held by one of them, or by a thread that runs
 * one. PyGILState_Ensure would then wait forever. */
static bool is_foreign_interpreter(const struct python_api *api)
{
    const void *holder = api->PyInterpreterState_Head() == api->PyInterpreterState_Main()
                             ? NULL
                             : api->holder_state();
    return holder && holder != api->thread_state();
}

static void walk_now(const struct python_api *api, const char *reason)
{
    if (is_running || !recording_generation() || api->is_finalizing())
        return;
    if (walks_generation != recording_generation()) {
        walks_generation = recording_generation();
        walk.walk_id = 0;
        growth_walks = failure_walks = 0;
    }
    walk = (struct walk_row){
        .walk_id = walk.walk_id + 1, .event_number = atomic_load(&recording.seq), .reason = reason};
    run(api, reason);
}

/* --- moments --- */

static void *at_failure(void *self, void *arguments)
{
    const struct python_api *api = python_api();
    (void)self, (void)arguments;
    if (failure_walks++ < FAILURE_WALKS_MAX)
        walk_now(api, "oom");
    return nothing(api);
}

static void *at_end(void *self, void *arguments)
{
    const struct python_api *api = python_api();
    (void)self, (void)arguments;
    walk_now(api, "end");
    return nothing(api);
}

/* The next walk comes when the live bytes have grown by a quarter. */
static void plan_next(void)
{
    const int64_t live = load(&counters.live_bytes), count = load(&counters.allocations_count);
    store(&counters.next_bytes, live + live / 4 > FIRST_BYTES ? live + live / 4 : FIRST_BYTES);
    store(&counters.next_count, growth_walks >= GROWTH_WALKS_MAX ? NEVER
                                : count < FIRST_ALLOCATIONS / 2  ? FIRST_ALLOCATIONS
                                                                 : 2 * count);
}

static bool is_frame_of_simulator(const struct python_api *api, void *frame)
{
    void *name = attribute_of(api, api->PyObject_GetAttrString(frame, "f_code"), "co_filename");
    const char *file = name ? api->PyUnicode_AsUTF8(name) : NULL;
    const bool is_own = file && !strcmp(file, VALUES_FILE);
    if (name)
        api->Py_DecRef(name);
    return is_own;
}

/* In dry runs, code of the simulator runs inside PyTorch's operators. A walk there would find
 * tensors before the operator returns them, and so before any variable has them. */
static bool is_in_simulator(const struct python_api *api)
{
    enum { FRAMES_MAX = 32 };
    void *frame = device_is_simulated() ? api->PyEval_GetFrame() : NULL;
    bool is_found = false;
    if (frame)
        api->Py_IncRef(frame);
    for (int i = 0; frame && !is_found && i < FRAMES_MAX; i++) {
        is_found = is_frame_of_simulator(api, frame);
        frame = is_found ? frame : attribute_of(api, frame, "f_back");
        if (frame && !api->PyObject_IsTrue(frame))
            release(api, &frame);
    }
    release(api, &frame);
    api->PyErr_Clear();
    return is_found;
}

static int at_pending_call(void *argument)
{
    const struct python_api *api = python_api();
    (void)argument;
    if (!api || api->is_finalizing() || !recording_generation())
        return 0;
    if (is_in_simulator(api) && !api->Py_AddPendingCall(at_pending_call, NULL))
        return 0;
    if (!is_attached) {
        is_attached = true;
        run(api, "attach");
    } else {
        growth_walks++;
        walk_now(api, "growth");
    }
    plan_next();
    return 0;
}

static int at_signal(void *argument)
{
    const struct python_api *api = python_api();
    (void)argument;
    if (api)
        walk_now(api, "asked");
    return 0;
}

/* Runs on the writer's thread, because a handler of signals may only set a flag. */
static void look_for_signal(void)
{
    if (!signal_came())
        return;
    const struct python_api *api = python_api();
    if (!api || !api->is_initialized() || api->is_finalizing() ||
        !api->Py_AddPendingCall(at_signal, NULL))
        signal_clear();
}

static bool is_wanted(void)
{
    return recording.config.holders || (device_is_simulated() && !recording.config.no_holders);
}

static void listen(void)
{
    signal_listen();
    atomic_store(&recording.at_period, look_for_signal);
}

static void forget_parents_counts(void)
{
    atomic_store(&counters.generation, recording_generation());
    store(&counters.live_bytes, 0);
    store(&counters.allocations_count, 0);
    store(&counters.next_bytes, 0);
    store(&counters.next_count, is_wanted() ? 0 : NEVER);
    if (is_wanted())
        listen();
}

/* Returns NULL if no interpreter can be walked over, and says so if the user asked for walks. */
static const struct python_api *find_api(void)
{
    const struct python_api *api = python_api();
    if (!api && recording.config.holders)
        log_once("no walk over Python's objects: no interpreter of CPython 3.8 to 3.13 runs");
    return api;
}

static void ask_for_call(void)
{
    const struct python_api *api = find_api();
    store(&counters.next_count, NEVER);
    if (api && api->Py_AddPendingCall(at_pending_call, NULL))
        store(&counters.next_count, 0); /* the queue is full: ask again at the next block */
}

void holders_note(int64_t change_bytes)
{
    const int saved_errno = errno;
    if (GMT_UNLIKELY(atomic_load_explicit(&counters.generation, memory_order_relaxed) !=
                     recording_generation()))
        forget_parents_counts();
    const int64_t live =
        atomic_fetch_add_explicit(&counters.live_bytes, change_bytes, memory_order_relaxed) +
        change_bytes;
    if (change_bytes > 0 &&
        atomic_fetch_add_explicit(&counters.allocations_count, 1, memory_order_relaxed) >=
            load(&counters.next_count) &&
        live >= load(&counters.next_bytes))
        ask_for_call();
    errno = saved_errno;
}

/* --- the public API, found by name: include/gpumemtrace/gpumemtrace.h --- */

GMT_EXPORT void gpumemtrace_holders(void);
void gpumemtrace_holders(void)
{
    const struct python_api *api = recording_generation() && is_wanted() ? find_api() : NULL;
    if (!api || !api->is_initialized() || api->is_finalizing())
        return;
    if (is_foreign_interpreter(api)) {
        log_once("no walk over Python's objects: another interpreter of the program holds the GIL");
        return;
    }
    const int state = api->PyGILState_Ensure();
    walk_now(api, "asked");
    api->PyGILState_Release(state);
}
