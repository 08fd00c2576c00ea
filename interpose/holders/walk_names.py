# SPDX-License-Identifier: MIT
"""
The second part of walk.py, in one namespace with it: the names from a root to a storage, as Python writes them, and the kind of
the holder.

A trail is the description of a chain so far: its text, the kinds of its links, the names of its variables, its containers, and
the role of the object at its end if that object is a part of another one, as the dict of an object's attributes is.
"""
# pylint: disable=undefined-variable

ITEM_CHARACTERS = 40
# The kinds that say more than the last link of the chain, the strongest first.
STRONG_KINDS = ("exception", "frame", "graph", "gradient", "hook", "cache", "context", "task", "generator", "queue", "thread",
                "optimizer", "finalizer", "exit", "iterator", "default", "closure")
OWN_CONTAINERS = ("queue", "cache", "iterator")  # their items are those that are counted, however many each of these has
SEQUENCES = (list, tuple, collections.deque, set, frozenset)
HOOKS = {"_forward_hooks": "forward hook", "_forward_pre_hooks": "forward hook", "_backward_hooks": "backward hook",
         "_backward_pre_hooks": "backward hook"}
KINDS_OF_OBJECTS = (("torch.optim.optimizer.Optimizer", "optimizer"), ("queue.Queue", "queue"), ("_queue.SimpleQueue", "queue"),
                    ("asyncio.queues.Queue", "queue"), ("_asyncio.Task", "task"), ("_thread._local", "thread"),
                    ("itertools.cycle", "iterator"))
# Modules that the program uses as a dict of other modules or of parameters.
MEMBER_DICTS = {getattr(torch.nn, name) for name in ("ModuleDict", "ParameterDict") if hasattr(torch.nn, name)}
WEAK_DICTS = {"weakref.WeakKeyDictionary", "torch.utils.weak.WeakIdKeyDictionary"}  # their values are not weak
# Types that stand for what they have in this attribute.
WRAPPERS = {"weakref.WeakKeyDictionary": "data", "torch.utils.weak.WeakIdKeyDictionary": "data",
            "weakref.WeakValueDictionary": "data", "collections.UserDict": "data", "collections.UserList": "data",
            "concurrent.futures._base.Future": "_result"}
FUTURES = ("_asyncio.Future", "_asyncio.Task")
CacheType = type(functools.lru_cache(abs))
ContextType = getattr(sys.modules.get("contextvars"), "Context", None)
GENERATORS = {types.GeneratorType: ("gi_frame", "generator"), types.CoroutineType: ("cr_frame", "task"),
              types.AsyncGeneratorType: ("ag_frame", "generator")}
assigned = {}  # ids of the types of an object and of its attribute: names that other statements assign, "" if one has none
positions = {}  # id of a container: {id of an item: its key or index}


def key_text(key):
    if type(key) in (int, float, bool, type(None)):
        return repr(key)
    if type(key) is tuple:
        return f"({', '.join(key_text(part) for part in key[:4])})"[:ITEM_CHARACTERS] if len(key) < 9 else "tuple"
    return key[:ITEM_CHARACTERS] if type(key) is str else type(key).__name__[:ITEM_CHARACTERS]


def is_set(kind):
    return set in kind.__mro__ or frozenset in kind.__mro__


def sequence_kind(kind):
    return "set" if is_set(kind) else "deque" if collections.deque in kind.__mro__ else "list"


def is_whole(container):
    """Is it no tuple or list that C code, such as that of tuple() or zip(), still fills? Reading a missing item would crash."""
    return type(container) not in (tuple, list) or len(gc.get_referents(container)) == len(container)


def key_of(container, child):
    """Returns the key or index of the child; None: it is a key itself, or the container has no order."""
    known = positions.get(id(container))
    if known is None:
        kind = type(container)
        if dict in kind.__mro__:  # another thread may change it, but copying one of another type may call code of the program
            pairs = dict.items(dict.copy(container) if kind is dict else container)
        else:
            pairs = () if is_set(kind) or not is_whole(container) else enumerate(container)
        known = positions[id(container)] = {}
        for key, value in pairs:
            known.setdefault(id(value), key)
    return known.get(id(child))


def function_name(code):
    return getattr(code, "co_qualname", code.co_name).replace("<locals>.", "")


def name_in_frame(frame, child):
    return next((name for name, value in locals_of(frame_of(frame)) if value is child), None) if frame else None


# --- links ---

def add_item(trail, kind, container, child):
    trail["text"] += "[*]"
    trail["kinds"].append(kind)
    trail["filled"] = True
    key = key_of(container, child)
    note_item(trail, container, key)
    trail["containers"].append([[type(container) is not tuple, len(container)], len(trail["text"]), kind, len(trail["names"]), key])


def note_item(trail, container, key):
    if trail["count"] is None:
        trail["item"] = None if key is None else key_text(key)
        trail["count"] = len(container)


def fold_link(trail, text, name, kind):
    """Takes a link of a linked list, as in node.next.next.next, for an item, and the list for a container. Returns False if it is no
    such link. Fewer than three links may be objects within objects."""
    if kind not in ("attribute", "closure") or trail["names"][-1][0] != name:
        return False
    if trail["text"].endswith(text + text):
        trail["names"].pop()
        trail["text"] = trail["text"][:-len(text)] + "[*]"
        trail["containers"].append([[True, 3], len(trail["text"]), kind, len(trail["names"]), None])
        return True
    is_link = bool(trail["containers"]) and trail["containers"][-1][1:3] == [len(trail["text"]), kind]
    if is_link:
        trail["containers"][-1][0][1] += 1
    return is_link


def add_name(trail, text, name, kind, sort="attr"):
    if fold_link(trail, text, name, kind):
        return
    trail["text"] += text
    trail["kinds"].append(kind)
    trail["names"].append((name, sort))
    trail["filled"], trail["function"] = False, None


def step_from_dict(trail, above, below):
    role, key = trail["role"], key_of(above, below)
    trail["role"] = None
    if role == "stack" and key == "_exit_callbacks":
        trail["role"] = "exits"
    elif role in ("attributes", "stack") or type(role) is list and key not in role:
        if key in HOOKS:
            add_hook(trail, HOOKS[key])
        elif type(key) is str:
            add_name(trail, "." + key, key, "attribute")
    elif type(role) is tuple:
        add_default(trail, key, role[1])
    elif role == "cache":
        trail["containers"][-1][-1] = key
    elif role == "threads":
        trail["role"] = "attributes"
    elif role != "hooks" and type(role) is not list:
        add_item(trail, trail.pop("weak", "dict"), above, below)


def add_hook(trail, text):
    trail["text"] += f".<{text}>"
    trail["kinds"].append("hook")
    trail["role"] = "hooks"


def step_from_sequence(trail, above, below):
    role, trail["role"] = trail["role"], None
    if role == "exits":
        add_exit(trail, above, below[1])
    if role in ("exits", "exit"):
        return
    if type(role) is not tuple:
        add_item(trail, sequence_kind(type(above)), above, below)
        return
    part, code = role
    number = key_of(above, below)
    if part == "closure":
        name = code.co_freevars[number]
        add_name(trail, f".<closure {name}>", name, "closure", "var")
    else:
        add_default(trail, code.co_varnames[code.co_argcount - len(above) + number], code)


def add_exit(trail, exits, function):
    """From an ExitStack to what it calls: the method __exit__ of an object, or a function with its arguments."""
    is_object = type(function) is types.MethodType
    function = vars(function).get("__wrapped__", function) if type(function) is types.FunctionType else function
    name = function.__name__ if type(function) is types.BuiltinFunctionType else type(function).__name__
    trail["text"] += f".<exit {callback_of(function) or name}>"
    trail["kinds"].append("exit")
    trail["stack"] = trail["names"][-1][0]
    if is_object:
        trail["role"] = "exit"
    else:
        trail.update(item=None, count=len(exits), is_whole=True)


def add_default(trail, name, code):
    add_name(trail, f".<default {name}>", name, "default", "var")
    trail["function"] = code


def step_from_function(trail, above, below):
    code = above.__code__
    if below is above.__closure__:
        trail["role"] = ("closure", code)
    elif below is above.__defaults__:
        trail["role"] = ("default", code)
    elif below is above.__kwdefaults__:
        trail["role"] = ("keyword default", code)
    else:
        trail["role"] = "attributes"


def step_from_frame(trail, frame, below, kind):
    """Up to CPython 3.10, a generator leads to its frame, and the frame to the variables."""
    role, trail["role"] = trail["role"], kind if below is frame else None
    kind = role or kind
    name = None if type(below) is types.FrameType else name_in_frame(frame, below)
    if name and kind == "exception" and trail["is_stored"]:
        trail["text"] += f" -> {function_name(frame.f_code)}"
        trail["is_whole"] = True
    elif name and kind == "task" and is_run_by_library(trail):
        trail.update(text=f"{function_name(frame.f_code)}: {name}", kinds=["local"], names=[(name, "var")], filled=False,
                     root=["local", frame.f_code, name])
    elif name:
        add_name(trail, f" -> {function_name(frame.f_code)}: {name}", name, kind, "var")


def is_run_by_library(trail):
    """Does a variable of a running function of a library lead to the coroutine, as that of asyncio.run() does, or a running
    statement, as the call of asyncio.run()? Then the coroutine is a running function of the program."""
    root = trail["root"]
    is_running = root[0] == "statement" or root[0] == "local" and is_of_library(root[1].co_filename)
    return is_running and len(trail["names"]) == 1 and not trail["containers"]


def step_from_exception(trail, above, below):
    if type(below) is dict:
        trail["role"] = "attributes"
    elif type(below) is tuple:
        add_name(trail, ".args", "args", "exception")
    elif type(below) is not types.TracebackType:
        name = next((name for name in ("__cause__", "__context__") if getattr(above, name) is below), None)
        trail["text"] += f".{name}" if name else ""


def step_from_cache(trail, above, below):
    add_name(trail, ".<cache>", None, "cache")
    function = above.__wrapped__
    trail["function"] = trail["cached"] = function.__code__ if type(function) is types.FunctionType else None
    trail["containers"] = [[[True, above.cache_info().currsize], len(trail["text"]), "cache", len(trail["names"]), None]]
    if type(below) is dict:
        trail["role"] = "cache"


def callable_of(thing):
    """Returns the function that the object calls or, as the hooks of an autograd node do, has among its values."""
    if dict in type(thing).__mro__:
        thing = next(iter(dict.values(thing)), None)
    if type(thing) is functools.partial:
        thing = thing.func
    if type(thing) is types.MethodType:
        thing = thing.__func__
    return thing if type(thing) is types.FunctionType else None


def callback_of(thing):
    function = callable_of(thing)
    return function and function.__qualname__.replace("<locals>.", "")


def name_among(names, thing, below):
    """Returns the name of the object's attribute. What a class has under a name hides it if it may run code of the program."""
    line = type(thing).__mro__
    for name in names:
        of_class = next((vars(kind)[name] for kind in line if name in vars(kind)), None)
        if type(of_class) is types.FunctionType or not any("__get__" in vars(kind) for kind in type(of_class).__mro__):
            try:
                if object.__getattribute__(thing, name) is below:
                    return name
            except AttributeError as error:
                pass_on(error)
    return None


def slot_name(thing, below):
    """Finds an attribute that lies in the object itself: a slot, or since CPython 3.11 one that its methods or, of the first such
    objects of its class, any statement assigns."""
    candidates = set()
    for kind in type(thing).__mro__:
        for name, value in vars(kind).items():
            if type(value) is types.MemberDescriptorType and name != "__dict__":
                try:
                    if value.__get__(thing) is below:
                        return name
                except AttributeError as error:
                    pass_on(error)
            elif type(value) is types.FunctionType:
                candidates.update(value.__code__.co_names)
    known = assigned.setdefault(f"{id(type(thing))} {id(type(below))}", [])
    name = name_among(known, thing, below) or name_among(sorted(candidates), thing, below)
    if name is None and "" not in known and type.__dict__["__dictoffset__"].__get__(type(thing)):
        name = name_among(facts["attr"], thing, below)
        known.append(name or "")
    return name


def cut_to_many(trail):
    """Ends the chain of an optimizer that is one of many in a container, because the container grows, and not the state of one
    optimizer. Returns False if there are not many."""
    trail["is_whole"] = any(may_grow and count >= CONTAINER_MIN for (may_grow, count), *_ in trail["containers"]) and \
        cut_to_container(trail)
    return trail["is_whole"]


def step_from_object(trail, above, below):
    line = type(above).__mro__
    names = {f"{kind.__module__}.{kind.__qualname__}" for kind in line}
    if not names.isdisjoint(FUTURES) and above._result is below:  # a task that is finished keeps nothing else
        trail["role"] = None
        return
    if "torch.optim.optimizer.Optimizer" in names and cut_to_many(trail):
        return
    trail["kinds"].extend(kind for name, kind in KINDS_OF_OBJECTS if name in names)
    if trail["kinds"][-1] in ("queue", "iterator"):
        trail["containers"].clear()
    if "_thread._local" in names and type(below) is dict:
        trail["role"] = "threads"
        return
    if "weakref.finalize._Info" in names:
        trail.update(text=f"weakref.finalize({callback_of(above.func)})", item=None, count=None, is_whole=True)
        trail["kinds"].append("finalizer")
        return
    if not WEAK_DICTS.isdisjoint(names):
        trail["weak"] = "weak"
    name, inner = slot_name(above, below), [WRAPPERS[name] for name in names if name in WRAPPERS]
    is_stack = "contextlib._BaseExitStack" in names
    if name in HOOKS:
        add_hook(trail, HOOKS[name])
    elif is_stack and name == "_exit_callbacks":
        trail["role"] = "exits"
    elif name and name not in inner:
        add_name(trail, "." + name, name, "attribute")
    elif not name and type(below) is dict:
        trail["role"] = inner or ("stack" if is_stack else "attributes")


def step_to_member(trail, module, name, below):
    """From a module of PyTorch to a parameter, a buffer or another module."""
    if not MEMBER_DICTS.isdisjoint(type(module).__mro__):
        members = (vars(module)[part] for part in ("_parameters", "_buffers", "_modules"))
        add_item(trail, "dict", next(each for each in members if name in each), below)
    elif name.isdigit():
        trail["text"] += "[*]"
        trail["kinds"].append("module")
        note_item(trail, vars(module)["_modules"], name)
    else:
        add_name(trail, "." + name, name, "module")


def step_from_tensor(trail, above, below):
    if type(below) in (dict, collections.OrderedDict) and vars(TensorBase)["_backward_hooks"].__get__(above) is below:
        add_hook(trail, "backward hook")
    else:
        trail["role"] = "attributes"


def name_of_context_variable(variable):
    """Returns the name by which the program knows the variable."""
    names = (name for module in own_modules.values() for name, value in dict.copy(vars(module)).items() if value is variable)
    return next(names, getattr(variable, "name", None))


def step_from_context(trail, above, below):
    """From the context of a task to the value of a variable, through a tree of which each inner node has value after value, and
    after each its variable."""
    if type(below).__name__.startswith("hamt"):
        return
    cut_to_container(trail)
    found = gc.get_referents(above)
    variable = next((after for before, after in zip(found, found[1:]) if before is below), None)
    name = name_of_context_variable(variable)
    add_name(trail, f" -> context {name}", name, "context", "context")
    trail["is_whole"] = True


def note_traceback(trail):
    """The chain leads to a traceback. Does a variable of the program store it? Then the chain ends at the function whose variables
    the traceback keeps, because only this variable is to be mended."""
    if trail["root"][0] != "exception" and "exception" not in trail["kinds"]:
        cut_to_container(trail)
        trail["is_stored"] = True
    trail["kinds"].append("exception")


def note_frame(trail, frame):
    """The chain leads to a frame that the program keeps as an object, and that has many variables: it ends at the function."""
    cut_to_container(trail)
    trail["text"] += f" -> {function_name(frame.f_code)}"
    trail["kinds"].append("frame")
    trail["is_whole"] = True


def step(trail, above, below, mark):
    if trail["is_whole"]:
        return
    step_on(trail, above, below, mark)
    if type(below) is types.TracebackType:
        note_traceback(trail)
    elif type(below) is types.FrameType and type(above) not in (types.TracebackType, types.FrameType, *GENERATORS):
        note_frame(trail, below)


def step_on(trail, above, below, mark):
    kind = type(above)
    line = kind.__mro__
    if mark == "graph" or trail["kinds"][-1] == "graph":
        if trail["kinds"][-1] != "graph":
            cut_to_container(trail)
            trail["text"] += " -> graph"
            trail["kinds"].append("graph")
    elif type(mark) is list:
        step_to_member(trail, above, mark[1], below)
    elif mark == "grad":
        add_name(trail, ".grad", "grad", "gradient")
    elif dict in line:
        step_from_dict(trail, above, below)
    elif any(each in line for each in SEQUENCES):
        step_from_sequence(trail, above, below)
    elif kind in (CellType, types.TracebackType):
        trail["role"] = None
    elif kind is types.FunctionType:
        step_from_function(trail, above, below)
    elif kind is types.FrameType:
        step_from_frame(trail, above, below, "exception")
    elif kind in GENERATORS:
        step_from_frame(trail, getattr(above, GENERATORS[kind][0]), below, GENERATORS[kind][1])
    elif kind is CacheType:
        step_from_cache(trail, above, below)
    elif BaseException in line:
        step_from_exception(trail, above, below)
    elif kind is types.MethodType:
        if not trail["text"].endswith((WITH, "__exit__>")):  # the method __exit__ of the object
            trail["text"] += ".__self__" if above.__self__ is below else ".__func__"
    elif TensorBase in line:
        step_from_tensor(trail, above, below)
    elif type in line:
        trail["role"] = "attributes"
    elif kind is ContextType or kind.__module__ == "builtins" and kind.__name__.startswith("hamt"):
        step_from_context(trail, above, below)
    else:
        step_from_object(trail, above, below)


# --- the container that grows ---

def strong_kind(trail):
    """A coroutine or generator that is not finished, or an object that waits for its exit, says less than a container to which it
    leads."""
    kinds = trail["kinds"]
    for kind in STRONG_KINDS:
        if kind in kinds:
            following = kinds[len(kinds) - kinds[::-1].index(kind):]
            if kind not in ("task", "generator", "exit") or not {"list", "deque", "set", "dict", "weak"} & {*following}:
                return kind
    return None


CONTAINER_MIN = 5  # items; a smaller container is a part of its object's structure


def is_stored_later(trail):
    """Does a statement outside a constructor store the tensor in the attribute at the end of the chain?"""
    name, sort = trail["names"][-1]
    place = choose(sort, name, trail["root"]) if sort == "attr" else None
    return place is not None and place[0].co_name not in CONSTRUCTORS


def cut_to_container(trail):
    """Ends the chain at its fullest container if its objects come and go with the items. A tensor in an attribute that is stored
    later than its object is made does not. Returns True if the chain ends there."""
    strong = strong_kind(trail)
    if not trail["containers"] or strong not in (None, *OWN_CONTAINERS):
        return False
    (may_grow, count), end, kind, names, key = trail["containers"][0] if strong else max(
        reversed(trail["containers"]), key=lambda container: container[0])
    if not strong and not trail["filled"] and (not may_grow or count < CONTAINER_MIN or is_stored_later(trail)):
        return False
    trail["text"], trail["count"], trail["item"] = trail["text"][:end], count, None if key is None else key_text(key)
    trail["names"], trail["filled"], trail["function"] = trail["names"][:names], strong != "cache", None
    if strong == "cache":
        trail["function"] = trail["cached"]
    trail["containers"] = [container for container in trail["containers"] if container[1] <= end]
    trail["kinds"].append(kind)
    return True


# --- chains ---

def start_of(mark):
    """Returns the trail of a root."""
    sort, where, name = mark[:3]
    text = where if sort == "exception" else name
    if sort in ("local", "statement") and where.co_name != "<module>":
        threads = f" ({mark[3]} threads)" if sort == "local" and mark[3] > 1 else ""
        text = f"{function_name(where)}{threads}: {name}"
    elif sort == "global" and where != "__main__":
        text = f"{where}.{name}"
    elif sort == "context":
        text = f"<context {name}>"
    return {"text": text, "kinds": [sort], "names": [(name, "context" if sort == "context" else "var")], "item": None,
            "count": None, "role": None, "filled": False, "function": None, "root": mark, "containers": [], "is_stored": False,
            "is_whole": sort == "exit"}


def trail_to(position):
    """Returns the trail of the chain to this object. None: an object of the chain has changed since."""
    path = []
    while position is not None and position >= 0:
        path.append(position)
        position = parent_of(position)
    if position is None:
        return None
    path.reverse()
    trail = start_of(marks[path[0]])
    for above, below in zip(path, path[1:]):
        step(trail, objects[above], objects[below], marks[below])
    cut_to_container(trail)
    if trail["containers"] and (trail["filled"] or "cached" in trail) and not trail["is_whole"]:
        (_, trail["count"]), _, _, _, key = trail["containers"][-1]
        trail["item"] = None if key is None else key_text(key)
    return trail


def kind_of(trail):
    return strong_kind(trail) or trail["kinds"][-1]
