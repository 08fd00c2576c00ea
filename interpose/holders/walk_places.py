# SPDX-License-Identifier: MIT
"""
The third part of walk.py, in one namespace with it: finds the statement that assigns a variable or fills a container, in the
bytecode of the program's functions.
"""
# pylint: disable=undefined-variable
import dis

INSTRUCTIONS_LIMIT = 300_000
FILLERS = {"append", "appendleft", "add", "extend", "insert", "update", "setdefault", "put", "put_nowait", "push", "callback",
           "enter_context", "push_async_callback", "enter_async_context"}
FILLING_FUNCTIONS = ("heappush", "heappushpop", "heapreplace", "insort", "insort_left", "insort_right")  # their first argument
REGISTRATIONS = {"atexit": "register", "signal": "signal"}  # module: its function that registers another one
NO_PLACE = (None, None, 0)
# The file of methods that dataclasses and namedtuple make. A program that is given with -c has the same, but no file.
GENERATED = "<string>" if "__file__" in vars(sys.modules["__main__"]) else None
# The assignment of an outer variable, or of something that is made from its value, stores nothing in these.
EXACT_KINDS = ("list", "deque", "set", "dict", "weak", "queue", "attribute")
CONSTRUCTORS = ("__init__", "__new__", "__post_init__")
facts = {"fill": {}, "item": {}, "var": {}, "attr": {}, "context": {}, "call": {}}  # name: places
loops = {}  # id of a code object: [offset, target] of each jump back


def codes_within(code):
    found = [code]
    for inner in found:
        found.extend(constant for constant in inner.co_consts if type(constant) is types.CodeType)
    return found


def codes_of_names(names, module_name):
    """Returns the code of the functions and methods that these names of a module or class are bound to."""
    found = []
    for value in names.values():
        while type(value) in (staticmethod, classmethod, CacheType) or hasattr(type(value), "__wrapped__"):
            value = value.__wrapped__ if hasattr(value, "__wrapped__") else value.__func__
        if type(value) is types.FunctionType and value.__module__ == module_name:
            found.append(value.__code__)
        elif type(value) is property and type(value.fget) is types.FunctionType:
            found.append(value.fget.__code__)
        elif type in type(value).__mro__ and vars(value).get("__module__") == module_name :
            found.extend(codes_of_names(vars(value), module_name))
    return found


def codes():
    """Returns the code of the program's functions, without repetition: of the running ones, and of its modules."""
    found = [frame[0] for frame in frames() if not is_of_library(frame[0].co_filename)]
    if main_code:
        found.append(main_code)
    for name, module in own_modules.items():
        found.extend(codes_of_names(vars(module), name))
    within = [inner for code in found for inner in codes_within(code) if inner.co_filename != GENERATED]
    return list({id(code): code for code in within}.values())


def note(sort, name, code, line, offset=None):
    """Notes a place: a code object, a line and, of an assignment, the offset of its instruction."""
    if type(name) is str:
        facts[sort].setdefault(name, []).append([code, line, offset])


def note_store(opname, name, code, line, offset, loaded):
    """loaded: what the statement has loaded so far; None stands for a constant."""
    if loaded[:1] == [None] and len(loaded) == (2 if opname == "STORE_ATTR" else 1):
        return
    names = name if type(name) is tuple else (name,)
    for each in names[:1] if opname == "STORE_FAST_LOAD_FAST" else names:
        note("attr" if opname == "STORE_ATTR" else "var", each, code, line, offset)


def is_hook_call(name):
    return name.startswith("register_") and name.endswith("hook")


def scan(code):
    """Notes what the statements of the code assign and fill. Returns the number of instructions."""
    lines, line, loaded, count, opname = dict(dis.findlinestarts(code)), 0, [], 0, None
    argument = None  # the first argument of a call of FILLING_FUNCTIONS, as far as it is loaded
    filled, filling_line = [], 0  # what a call of FILLERS may fill: a constant alone does not fill it
    key = 0  # index in `loaded` of the last value, before its attributes
    for instruction in dis.get_instructions(code):
        count += 1
        before, opname, name = opname, instruction.opname, instruction.argval
        line = lines.get(instruction.offset) or line
        if filled and (opname != "LOAD_CONST" or before == "LOAD_CONST"):
            for each in filled if before != "LOAD_CONST" or not opname.startswith(("CALL", "PRECALL")) else ():
                note("fill" if each is filled[-1] else "item", each, code, filling_line)
            filled = []
        if opname in ("LOAD_METHOD", "LOAD_ATTR") and name in FILLERS and loaded:
            filled, filling_line = loaded[-1:] if before != "BINARY_SUBSCR" else list(loaded), line
        if argument and not opname.startswith("LOAD_ATTR"):
            note("fill", argument, code, line)
            argument = None
        elif argument is not None and opname.startswith("LOAD_"):
            argument = name[0] if type(name) is tuple else name
        if opname.startswith("LOAD_") and name in FILLING_FUNCTIONS:
            argument = ""
        if opname in ("LOAD_METHOD", "LOAD_ATTR") and loaded and (name == "set" or name == REGISTRATIONS.get(loaded[-1])):
            note("context" if name == "set" else "call", loaded[-1], code, line)
        if opname.startswith("LOAD_") and type(name) is str and (name == "finalize" or is_hook_call(name)):
            note("call", "finalize" if name == "finalize" else "forward hook" if "forward" in name else "hook", code, line)
        if opname == "STORE_SUBSCR":
            for index, each in enumerate(loaded):
                note("fill" if index == key - 1 else "item", each, code, line)
        elif opname.startswith(("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF", "STORE_ATTR")):
            note_store(opname, name, code, line, instruction.offset, loaded)
        if opname.startswith("LOAD_") and opname not in ("LOAD_ATTR", "LOAD_METHOD"):
            key = len(loaded) + (len(name) - 1 if type(name) is tuple else 0)
        if opname.startswith("LOAD_") and opname != "LOAD_CONST":
            loaded.extend(name if type(name) is tuple else (name,))
        elif opname.startswith(("STORE_", "POP_TOP", "RETURN_", "POP_JUMP")):
            loaded = []
        elif opname == "LOAD_CONST" or opname in ("BUILD_LIST", "BUILD_MAP") and not instruction.arg:
            loaded.append(None)
    return count


def scan_program():
    count, until = 0, time.thread_time() + NAMES_TIME_S
    for code in codes():
        if count < INSTRUCTIONS_LIMIT and time.thread_time() < until:
            count += scan(code)


def file_of(module_name):
    return vars(sys.modules[module_name]).get("__file__") if module_name in sys.modules else None


def line_of_place(place):
    return place[1]


def jumps_back(code):
    if id(code) not in loops:
        loops[id(code)] = [[each.offset, each.argval] for each in dis.get_instructions(code)
                           if (each.opcode in dis.hasjrel or each.opcode in dis.hasjabs) and each.argval < each.offset]
    return loops[id(code)]


def may_have_run(place, root):
    """Did the function of the root come to the place yet? A later statement may have run before in a loop around both."""
    at = root[4] if len(root) > 4 else None
    return place[0] is not root[1] or at is None or place[2] < at or any(
        target <= at and offset > place[2] for offset, target in jumps_back(place[0]))


def is_own_variable(code, name):
    """Do only the statements of this function assign the variable?"""
    return code.co_name != "<module>" and name in (*code.co_varnames, *code.co_cellvars) and name not in code.co_freevars


def choose(sort, name, root):
    """Returns the first place that fills the container, or the place of the last line that assigns the variable. A place in the
    function or file of the root comes before others. None: the variable is an argument that was not assigned yet, or unknown."""
    found = facts[sort].get(name, [])
    where = root[1]
    if root[0] == "local":
        own = [place for place in found if place[0] is where]
        if sort == "var" and name == root[2] and is_own_variable(where, name):
            found = own
        near = own or [place for place in found if place[0].co_filename == where.co_filename]
    else:
        near = [place for place in found if place[0].co_filename == file_of(where)]
    found = near or found
    if root[0] == "local" and sort == "var":
        found = [place for place in found if may_have_run(place, root)]
    return None if not found else found[0] if sort in ("fill", "item") else max(found, key=line_of_place)


def place_of_call(name, code=None):
    """Returns the first place that calls such a function in the function that defines this code, or the only place."""
    places = facts["call"].get(name, ())
    near = [place for place in places if code in place[0].co_consts] if code else []
    return text_of_place(near[0] if near else places[0] if len(places) == 1 else None)


def place_of(trail):
    """Returns the function, file and line of the statement that keeps the memory."""
    place = None
    if "finalizer" in trail["kinds"]:
        return place_of_call("finalize")
    if trail["root"][0] == "exit":
        _, code, name = trail["root"][:3]
        return place_of_call(name.partition(".")[0], code) if is_of_program(code.co_filename) else NO_PLACE
    if "hook" in trail["kinds"]:
        return place_of_call("forward hook" if "<forward hook>" in trail["text"] else "hook")
    if kind_of(trail) == "exit":
        return text_of_place(choose("fill", trail["stack"], trail["root"]))
    if trail["function"] is not None and not trail["filled"]:
        place = trail["function"], trail["function"].co_firstlineno
    is_exact = kind_of(trail) in EXACT_KINDS
    names = trail["names"]
    while kind_of(trail) in ("generator", "task") and names[-1][1] == "attr":  # its variable keeps the object
        names = names[:-1]
    for name, sort in reversed(names) if place is None else ():
        for each in ("fill", "item", sort) if trail["filled"] else (sort,):
            if each == "fill" or not is_exact or name == trail["names"][-1][0]:
                place = place or choose(each, name, trail["root"])
    if place is None and trail["root"][0] == "statement":
        place = trail["root"][1], trail["root"][3]
    return text_of_place(place)


def text_of_place(place):
    return NO_PLACE if place is None else (getattr(place[0], "co_qualname", place[0].co_name), place[0].co_filename, place[1])
