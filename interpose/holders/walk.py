# SPDX-License-Identifier: MIT
"""
Walks over the objects of the recorded program, from the variables that a person finds in its source to the storages of its
tensors on the card. Each object is met once, through the shortest chain of references.

The walk changes nothing: it calls no code of the program, compares types by identity, keeps no reference, allocates nothing on
the card, and collects nothing (holders.c). It defines no class and no function that refers to itself, because those would be
garbage that only a collection frees. It makes many small lists instead of tuples, because CPython keeps thousands of freed
tuples for later, which shifts the program's next collection. walk_names.py, walk_places.py, walk_stacks.py and walk_start.py
follow in the same namespace (walk_file.S); holders.c provides reason, row, done, keep, hand_on, main_code, at_failure,
at_end, after_fork and switch_interval, the seconds after which another thread could run before the walk.
"""
import collections
import contextlib
import ctypes
import functools
import gc
import itertools
import os
import sys
import time
import types

torch = sys.modules.get("torch") or types.SimpleNamespace(  # a walk imports no module that the program does not use
    _C=types.SimpleNamespace(TensorBase=None, DisableTorchFunction=contextlib.nullcontext), __file__="/no/torch/",
    nn=types.SimpleNamespace(Module=None), optim=types.SimpleNamespace(Optimizer=None))

TIME_LIMIT_S = 2  # of this thread on a processor, so that a walk on a busy machine finds as much
NAMES_TIME_S = 0.5  # the part of the time that is kept for finding names and statements
OBJECTS_LIMIT = 5_000_000
MEMORY_LIMIT_BYTES = 200 << 20
STEADY_S = 0.1  # the time for reading the variables of other threads
BYTES_PER_OBJECT = 160  # of the lists and the dict below
CHECK_EVERY = 1024
BATCH = 32  # objects that are visited together

# Each object met, the position of the object that led to it (-1: a root; less: see visit_batch), and how.
objects, parents, marks = [], [], []
seen = {}  # id of an object: its position; -1: the variables of a module; OWN: of the walk itself
storages = {}  # address: [bytes, position of the tensor that was met first]
limits = {"until": time.thread_time() + TIME_LIMIT_S - NAMES_TIME_S, "objects": OBJECTS_LIMIT, "stopped": None, "libraries": False,
          "steady_until": 0}
library_locals = []  # variables of the running functions of libraries: [name for people, value]
# The objects that no root leads to: position of the first, who refers to whom, and which of them C++ code refers to.
rest = {"start": None, "edges": None, "by_cpp": []}
later = []  # positions of optimizers, whose parameters are known by the names of their modules
visitors = {}  # type: function that adds the objects to which an object of the type refers
plain_types = set()  # the types whose function is visit_plain
readers = {}  # type of an array of another framework: function that reads its __cuda_array_interface__
saved_names = {}  # type of an autograd node: its attributes with saved tensors
undefined_tensor = []  # its address
SAVED_BYTES, SAVED_IN_OBJECT = 56, 16  # size of the object of a saved tensor, and offset of the address in it

TensorBase = torch._C.TensorBase if hasattr(torch._C, "TensorBase") else torch._C._TensorBase
read_is_cuda, read_is_leaf, read_retains_grad, read_grad, read_grad_fn, read_version = [
    TensorBase and vars(TensorBase)[name].__get__
    for name in ("is_cuda", "is_leaf", "retains_grad", "grad", "grad_fn", "_version")]
is_copied_on_write = getattr(torch._C, "_is_cow_tensor", None)
CellType = types.CellType
MINOR = sys.version_info[1]
OPTIMIZED = 2  # flag of the code of functions; CO_NEWLOCALS

LEAVES = (type(None), bool, int, float, complex, str, bytes, bytearray, range, slice, types.CodeType, types.ModuleType,
          types.BuiltinFunctionType, types.WrapperDescriptorType, types.MethodDescriptorType, types.MappingProxyType)


def add(thing, parent, mark=None):
    key = id(thing)
    if rest["edges"] is not None and type(mark) is not list:
        rest["edges"].append(parent)
        rest["edges"].append(seen.get(key, len(objects)))
        if mark is not None:
            rest["by_cpp"].append(rest["edges"][-1])
    if key not in seen:
        meet(thing, key, parent, mark)


def meet(thing, key, parent, mark):
    seen[key] = len(objects)
    objects.append(thing)
    parents.append(parent)
    marks.append(mark)


# --- libraries and the program ---

LIBRARIES = tuple({os.path.dirname(os.path.dirname(torch.__file__)) + "/", os.path.dirname(os.__file__) + "/", "<"})


def is_of_library(file):
    return file.startswith(LIBRARIES) or "/site-packages/" in file or "/dist-packages/" in file


def is_of_program(file):
    return not is_of_library(file)


def is_own_module(module):
    """Is it a module of the program?"""
    names = vars(module)
    file = names.get("__file__")
    return names.get("__name__") == "__main__" or (type(file) is str and not is_of_library(file))


own_modules = {name: module for name, module in dict(sys.modules).items()
               if type(name) is str and type(module) is types.ModuleType and is_own_module(module)}


# --- objects and what they refer to ---

def visit_nothing(thing, at):
    pass


def visit_plain(thing, at):
    is_noting, is_tracked, children = rest["edges"] is not None, gc.is_tracked, gc.get_referents(thing)
    for start in range(0, len(children), CHECK_EVERY):
        if start and not may_go_on():
            break
        for child in children[start:start + CHECK_EVERY]:
            if is_tracked(child):
                if is_noting:
                    add(child, at)
                elif id(child) not in seen:
                    meet(child, id(child), at, None)


def visit_module(module, at):
    """A module of PyTorch, whose members are as near as attributes of other objects."""
    for name in ("_parameters", "_buffers", "_modules"):
        for key, member in (vars(module).get(name) or {}).items():
            if member is not None:
                add(member, at, ["member", key])
    visit_plain(module, at)


def visit_later(_, at):
    later.append(at)


def visit_type(kind, at):
    """The classes of libraries are reached through their modules."""
    if limits["libraries"] or vars(kind).get("__module__") in own_modules:
        visit_plain(kind, at)


def visit_function(function, at):
    """A function also refers to the variables of its module, which are roots."""
    for child in (function.__closure__, function.__defaults__, function.__kwdefaults__):
        if child is not None:
            add(child, at)
    if limits["libraries"]:
        return
    names = function.__globals__
    builtins = getattr(function, "__builtins__", None)  # since CPython 3.10
    for child in gc.get_referents(function):
        if type(child) is dict and child is not names and child is not builtins:
            add(child, at)


def visit_node(node, at):
    """A node of an autograd graph. The dicts of hooks belong to the C++ node, to which several objects can refer; 2.0 shows them
    to the garbage collector even so."""
    kind = type(node)
    if kind not in saved_names:
        saved_names[kind] = [name for name in dir(kind) if name.startswith("_raw_saved_")]
    if torch._C._FunctionBase in type.__dict__["__mro__"].__get__(kind):
        visit_plain(node, at)
    for following in node.next_functions:
        if following[0] is not None:
            add(following[0], at, "graph")
    if kind.__name__ == "AccumulateGrad":
        add(node.variable, at, "graph")
    for name in saved_names[kind]:
        try:
            for one in saved_tensors_of(node, name):
                if one is not None and gc.is_tracked(one):
                    add(one, at, "graph")
        except RuntimeError as error:  # a backward has freed it, or the program has changed it since
            pass_on(error)


def as_sequence(value):
    return value if type(value) in (tuple, list) else (value,)


def saved_tensors_of(node, name):
    """Returns the tensors that a node saves, without those that have a hook: to unpack such a tensor would run the program's code.
    The attribute without "raw" unpacks them all. Some releases, such as 2.0 and 2.8, give the tensor in no other way."""
    saved = [one for one in as_sequence(getattr(node, name)) if one is not None]
    if saved and not hasattr(type(saved[0]), "unpack_hook"):
        plain = name[4:] if hasattr(type(node), name[4:]) else name[5:]
        return as_sequence(getattr(node, plain)) if all(is_without_hook(one) for one in saved) else ()
    return [one.data for one in saved]


def is_without_hook(saved):
    """PyTorch's SavedVariable begins with a tensor, which is undefined if a hook has packed it. The object's address follows the
    head of its Python object."""
    if not undefined_tensor:
        undefined_tensor.append(find_undefined_tensor())
    if undefined_tensor[0] is None or type(saved).__basicsize__ != SAVED_BYTES:
        return False
    return word(word(id(saved) + SAVED_IN_OBJECT)) != undefined_tensor[0]


def find_undefined_tensor():
    try:
        library = ctypes.CDLL("libc10.so", os.RTLD_NOLOAD)
        return ctypes.addressof(ctypes.c_char.in_dll(library, "_ZN3c1019UndefinedTensorImpl10_singletonE"))
    except (OSError, ValueError) as error:  # the library or its variable has another name
        pass_on(error)
        return None


def visit_tensor(tensor, at):
    visit_plain(tensor, at)
    note_if_on_card(tensor, at)
    try:
        if read_is_leaf(tensor) or read_retains_grad(tensor):
            if read_grad(tensor) is not None:
                add(read_grad(tensor), at, "grad")
        # For a view that was changed, PyTorch may make a new node. The graph of a saved tensor is reached from the saving node.
        if not read_is_leaf(tensor) and marks[at] != "graph" and not (TensorBase._is_view(tensor) and read_version(tensor)):
            add(read_grad_fn(tensor), at, "graph")
    except (RuntimeError, NotImplementedError, TypeError, ValueError) as error:  # a tensor of a kind that has none of these
        pass_on(error)


def note_if_on_card(tensor, at):
    try:
        if read_is_cuda(tensor):
            note_storage(tensor, at)
    except (RuntimeError, NotImplementedError, TypeError, ValueError) as error:  # a tensor without storage
        pass_on(error)


def note_storage(tensor, at):
    """The object of a storage outlives the walk once it is made, so it is made only for views."""
    if is_copied_on_write and is_copied_on_write(tensor):
        return  # data_ptr() would copy it
    address, size = TensorBase.data_ptr(tensor), TensorBase.numel(tensor) * TensorBase.element_size(tensor)
    if TensorBase._is_view(tensor) or TensorBase.storage_offset(tensor) or not TensorBase.is_contiguous(tensor):
        storage = TensorBase.untyped_storage(tensor)
        address, size = storage.data_ptr(), storage.nbytes()
    if not address:
        return
    known = storages.setdefault(address, [size, at])
    if size > known[0]:
        known[0] = size


# --- arrays of other frameworks ---

INTERFACE = "__cuda_array_interface__"
ARRAY_MODULES = ("cupy", "cupyx", "numba", "jax", "jaxlib", "rmm", "cudf")  # their properties have no side effects


def reader_of(kind, line):
    """Returns the function that reads the interface of an object of this type. None: it has none, or reading it would run code
    of the program."""
    found = next((vars(each)[INTERFACE] for each in line if INTERFACE in vars(each)), None)
    if type(found) in (types.GetSetDescriptorType, types.MemberDescriptorType):
        return found.__get__
    module = vars(kind).get("__module__")
    is_known = type(module) is str and module.partition(".")[0] in ARRAY_MODULES
    return found.__get__ if type(found) is property and is_known else None


def visit_array(array, at):
    visit_plain(array, at)
    try:
        interface = readers[type(array)](array)
        size = int(interface["typestr"][2:])
        for length, stride in zip(interface["shape"], interface.get("strides") or interface["shape"]):
            size = size * length if not interface.get("strides") else size + (length - 1) * stride
        if interface["data"][0] and size > 0:
            storages.setdefault(interface["data"][0], [size, at])
    except (RuntimeError, AttributeError, LookupError, TypeError, ValueError) as error:  # it is not on the card, or it is freed
        pass_on(error)


def visitor_of(kind):
    """Chooses the function that visits objects of the type, and remembers it."""
    visit = visitors[kind] = choose_visitor(kind)
    if visit is visit_plain:
        plain_types.add(kind)
    return visit


def choose_visitor(kind):
    line = type.__dict__["__mro__"].__get__(kind)
    reader = None if TensorBase in line else reader_of(kind, line)
    if reader is not None:
        readers[kind] = reader
        return visit_array
    if kind in LEAVES:
        return visit_nothing
    if TensorBase in line:
        return visit_tensor
    if any("next_functions" in vars(each) for each in line):
        return visit_node
    if type in line:
        return visit_type
    if torch.nn.Module in line:
        return visit_module
    if torch.optim.Optimizer in line:
        return visit_later
    return visit_function if kind is types.FunctionType else visit_plain


# --- local variables ---

def word(address):
    return ctypes.c_size_t.from_address(address).value


def thing_at(address):
    return ctypes.cast(word(address), ctypes.py_object).value


# Offsets in the frames of CPython 3.11 and 3.12, which become objects only when a program asks for one: in the object, the frame;
# in the frame, code, caller, owner and the slots of the variables. An owner of 3 has no variables.
FRAME_IN_OBJECT, SLOTS_IN_FRAME, ENTRY_IN_FRAME, OWNER_WITHOUT_VARIABLES = 24, 72, 68, 3
CODE_IN_FRAME, CALLER_IN_FRAME, OWNER_IN_FRAME = (32, 48, 69) if MINOR == 11 else (0, 8, 70)
CODE_IN_OBJECT = 32  # in the frame objects up to CPython 3.10


def frame_of(thing):
    """Returns code and place of a frame object: since CPython 3.13 the object itself. Before, the place is the address of its
    variables, because reading f_locals would keep them alive; None: the object is laid out in another way."""
    code = thing.f_code
    if MINOR >= 13:
        return [code, thing]
    frame = word(id(thing) + FRAME_IN_OBJECT)
    if MINOR >= 11:
        return [code, frame if word(frame + CODE_IN_FRAME) == id(code) else None]
    start = id(thing) + type(thing).__basicsize__ - 8
    return [code, start if word(id(thing) + CODE_IN_OBJECT) == id(code) else None]


def is_entered_by_c(frame):
    """Did C code call the function of the frame, as sorted() calls its key? False before CPython 3.11, which does not tell."""
    if MINOR < 11 or frame[1] is None:
        return False
    address = address_of(frame[1])
    if MINOR == 11:
        return ctypes.c_bool.from_address(address + ENTRY_IN_FRAME).value
    caller = word(address + CALLER_IN_FRAME)
    return caller == 0 or ctypes.c_ubyte.from_address(caller + OWNER_IN_FRAME).value >= OWNER_WITHOUT_VARIABLES


def address_of(place):
    """Returns the address of a frame's struct, since CPython 3.11. place: see frame_of."""
    return place if type(place) is int else word(id(place) + FRAME_IN_OBJECT)


def callers_of(thing):
    """Returns the frames from this object on, innermost first."""
    found = [frame_of(thing)]
    if MINOR not in (11, 12):
        while thing.f_back is not None:
            thing = thing.f_back
            found.append(frame_of(thing))
        return found
    address = found[0][1] and word(found[0][1] + CALLER_IN_FRAME)
    while address:
        if ctypes.c_ubyte.from_address(address + OWNER_IN_FRAME).value < OWNER_WITHOUT_VARIABLES:
            found.append([thing_at(address + CODE_IN_FRAME), address])
        address = word(address + CALLER_IN_FRAME)
    return found


def locals_of(frame):
    """Returns the names and values of a frame's variables."""
    code, place = frame[:2]
    if place is None:
        return []
    if MINOR >= 13:
        return [[name, value] for name, value in place.f_locals.items()]
    cells = code.co_cellvars if MINOR < 11 else tuple(name for name in code.co_cellvars if name not in code.co_varnames)
    address = place + (SLOTS_IN_FRAME if MINOR >= 11 else 0)
    found = []
    for number, name in enumerate(code.co_varnames + cells + code.co_freevars):
        if word(address + 8 * number):
            found.append([name, thing_at(address + 8 * number)])
    return found


def steady_until(old_interval):
    """Returns until when no other thread can run, because each waits for its turn for at least SWITCH_S; those that already waited
    for the old interval are let pass first. 0: others run too often, or the old interval is too long to wait for."""
    for _ in range(3 if old_interval < STEADY_S else 0):
        start = time.monotonic()
        while time.monotonic() < start + old_interval:
            pass
        if time.monotonic() < start + 2 * old_interval + STEADY_S:
            return start + STEADY_S
    return 0


def running_frames(are_all_safe):
    """Returns the running frames, outermost first, each with the number of its thread and the answer to "does it run a call of C
    code that does not go on before the walk ends?". Those of other threads are read only if that is safe, or while they cannot
    run, because they may end while they are read. A backward runs in a thread of its own, while another one waits for it."""
    found = []
    are_steady = are_all_safe or time.monotonic() < limits["steady_until"]
    for thread, thing in enumerate(sys._current_frames().values() if are_steady else (sys._getframe(),)):
        inner, own = None, []
        for frame in callers_of(thing):
            if not frame[0].co_filename.startswith("<gpumemtrace"):
                in_c = is_entered_by_c(inner) if own else reason == "oom"
                own.append(frame + [thread, in_c])
            inner = frame
        found.extend(reversed(own))
    thing = inner = frame = None  # this function's own frame: a frame that keeps itself, and its callers, would be garbage
    return found


def frames():
    """Returns the running frames that have variables of their own. Since CPython 3.13, reading these is always safe."""
    return [frame for frame in running_frames(MINOR >= 13) if frame[0].co_flags & OPTIMIZED]


# --- roots ---

def add_root(thing, mark):
    if gc.is_tracked(thing):
        add(thing, -1, mark)


def add_module(name, module):
    for key, value in dict.copy(vars(module)).items():  # another thread may change it
        if type(value) is not types.ModuleType and key != "__builtins__":
            add_root(value, ["global", name, key])


def add_frames():
    running, threads = frames(), {}
    for code, _, thread, _ in running:
        threads.setdefault(id(code), set()).add(thread)
    for frame in running:
        is_own = not is_of_library(frame[0].co_filename)
        at = reached(*frame[:2])
        for name, value in locals_of(frame):
            mark = ["local", frame[0], name, len(threads[id(frame[0])]), at]
            if is_own:
                add_root(value, mark)
            elif gc.is_tracked(value):
                library_locals.append([mark, value])


def add_exceptions():
    for name in ("last_exc", "last_value", "last_traceback"):
        if vars(sys).get(name) is not None:
            add_root(vars(sys)[name], ["exception", "sys." + name, name])
    if sys.exc_info()[1] is not None:
        add_root(sys.exc_info()[1], ["exception", "the exception that is handled", None])


# Offset, in the interpreter's struct, of the array of functions that atexit has. The array's length and its size follow.
EXITS_IN_INTERPRETER = {10: 0xDA0, 11: 0xDD0, 12: 0xF68, 13: 0x29D8}
SPARE_EXITS_MAX = 64


def words_at(address, count):
    """Returns words of this process's memory; [] if there is none at the address, because another way of reading would end the
    process then, or if the file cannot be opened, which the program's hooks may forbid."""
    found = b""
    try:
        memory = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            found = os.pread(memory, 8 * count, address)
        finally:
            os.close(memory)
    except Exception as error:
        pass_on(error)
    return [int.from_bytes(found[at:at + 8], "little") for at in range(0, len(found), 8)]


def exits():
    """Returns function, arguments and keyword arguments of each call that atexit has, without those that the collector does not
    know. Up to CPython 3.9, the module refers to them."""
    atexit = sys.modules.get("atexit")
    if atexit is None or MINOR >= 10 and MINOR not in EXITS_IN_INTERPRETER:
        return []
    if MINOR < 10:
        found, things = [], gc.get_referents(atexit)
        for thing, following in zip(things, things[1:]):
            if type(following) is tuple:  # the arguments follow the function
                found.append([thing])
            elif found:
                found[-1].append(thing)
        return found
    of_interpreter = ctypes.pythonapi["PyInterpreterState_Get"]  # an object of its own, which no other code has
    of_interpreter.restype = ctypes.c_size_t
    array, counts = (words_at(of_interpreter() + EXITS_IN_INTERPRETER[MINOR], 2) + [0, 0])[:2]
    count, size = counts & 0xFFFFFFFF, counts >> 32
    if count != atexit._ncallbacks() or not count <= size <= count + SPARE_EXITS_MAX:
        return []
    calls = [words_at(call, 3) for call in words_at(array, count) if call]  # 0: it was unregistered
    wanted = {part for call in calls for part in call}
    known = known_objects(wanted)
    return [[known[part] for part in call if part in known] for call in calls if call and call[0] in known]


def known_objects(addresses):
    """Returns {address: object} of the objects at these addresses that the garbage collector knows."""
    things = gc.get_objects()
    return {id(thing): thing for thing in itertools.compress(things, map(addresses.__contains__, map(id, things)))}


def add_exits():
    for call in exits():
        function = callable_of(call[0])
        for thing in call if function is not None else ():
            add_root(thing, ["exit", function.__code__, f"atexit.register({callback_of(function)})"])


def add_signal_handlers():
    """The interpreter's table of handlers is no object of Python's."""
    signals = sys.modules.get("_signal")
    for number in signals.valid_signals() if hasattr(signals, "valid_signals") else ():
        handler = signals.getsignal(number)
        function = callable_of(handler)
        if function is not None and is_of_program(function.__code__.co_filename):
            add_root(handler, ["exit", function.__code__, f"signal.signal({callback_of(function)})"])


def add_context():
    """Adds the values of the context variables of this thread. Other contexts are reached through their tasks."""
    contextvars = sys.modules.get("contextvars")
    for variable, value in contextvars.copy_context().items() if contextvars is not None else ():
        add_root(value, ["context", None, name_of_context_variable(variable)])


def may_go_on():
    if len(objects) >= limits["objects"]:
        limits["stopped"] = "objects" if limits["objects"] == OBJECTS_LIMIT else "memory"
    elif time.thread_time() > limits["until"]:
        limits["stopped"] = "time"
    return limits["stopped"] is None


def go_on(position):
    """Visits the objects from this position on, and all objects that they lead to; optimizers come last."""
    position = visit_from(position)
    while later and not limits["stopped"]:
        at = later.pop(0)
        visit_plain(objects[at], at)
        position = visit_from(position)
    return position


def visit_from(position):
    check_at = position
    while position < len(objects):
        if position >= check_at:
            if not may_go_on():
                break
            check_at = position + CHECK_EVERY
        batch = objects[position:position + BATCH]
        if rest["edges"] is None and plain_types.issuperset(map(type, batch)):
            visit_batch(batch, position)
        else:
            for at, thing in enumerate(batch, position):
                visit = visitors.get(type(thing)) or visitor_of(type(thing))
                visit(thing, at)
        position += len(batch)
    return position


def visit_batch(batch, position):
    """Adds the objects to which those of the batch refer. Loops of the interpreter's own code are several times as fast as one of
    this file. Which object of the batch refers to which is not noted; see parent_of."""
    children = filter(gc.is_tracked, gc.get_referents(*batch))
    part = True
    while part and may_go_on():
        part = list(itertools.islice(children, CHECK_EVERY))
        by_id = dict(zip(map(id, part), part))
        new = list(itertools.filterfalse(seen.__contains__, by_id))
        seen.update(zip(new, itertools.count(len(objects))))
        objects.extend(map(by_id.__getitem__, new))
        parents.extend(itertools.repeat(-2 - position, len(new)))
        marks.extend(itertools.repeat(None, len(new)))


def parent_of(position):
    """Returns the position of the first object that led to this one. -1: it is a root. None: its batch no longer refers to it."""
    batch = -2 - parents[position]
    for at in range(batch, batch + BATCH) if batch >= 0 else ():
        for child in gc.get_referents(objects[at]):
            known = seen.get(id(child), -1)
            if known >= 0 and parents[known] == -2 - batch:
                parents[known] = at
        if parents[position] >= 0:
            break
    return parents[position] if parents[position] >= -1 else None
