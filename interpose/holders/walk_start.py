# SPDX-License-Identifier: MIT
"""
The last part of walk.py, in one namespace with it: the order of the roots, the rest that no root leads to, and the rows.
"""
# pylint: disable=undefined-variable

ROWS_MAX = 10_000
SAMPLE_MAX = 4  # tensors that no root leads to and whose referrers are looked for: each look goes over all objects
REFERRER_LEVELS, LEVEL_MAX = 40, 24
OWN = -2  # in `seen`
READING_SHARE = 0.7  # the part of the time for the rest that reading the notes takes, about
REST_BYTES, REST_RATIO = 1 << 20, 20  # a rest that is smaller, in bytes or as a part of what was found, is left alone


def attach():
    """Asks to be called at the end of the program, and when an allocation fails."""
    import atexit
    atexit.register(at_end)
    os.register_at_fork(after_in_child=after_fork)
    for code in [frame[0] for frame in callers_of(sys._getframe())]:
        if code.co_name == "<module>" and code.co_filename == vars(sys.modules["__main__"]).get("__file__"):
            keep(code)
    observe = getattr(torch._C, "_cuda_attach_out_of_memory_observer", None)
    if observe is None:
        print("gpumemtrace: this PyTorch does not report failed allocations: no walk over its objects when memory runs out",
              file=sys.stderr)
    else:
        observe(at_failure)


def set_limits():
    free_bytes = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limits["objects"] = min(OBJECTS_LIMIT, min(MEMORY_LIMIT_BYTES, free_bytes // 10) // BYTES_PER_OBJECT)


def pass_over_own():
    """Marks the walk's own containers and functions as met. A list of objects that led to itself would outlive the walk."""
    seen[id(globals())] = OWN
    for thing in list(globals().values()):
        if type(thing) in (dict, list, set, types.FunctionType):
            seen[id(thing)] = OWN


def walk_from_program():
    """Walks from the variables of the program, which people know, before any of a library."""
    pass_over_own()
    for module in list(sys.modules.values()):  # functions lead to these, but they are roots
        if type(module) is types.ModuleType:
            seen[id(vars(module))] = -1
    for name, module in own_modules.items():
        add_module(name, module)
    add_frames()
    add_exceptions()
    position = go_on(0)
    finalize = getattr(sys.modules.get("weakref"), "finalize", None)
    if type(finalize) is type:  # the functions that the program has given to weakref.finalize
        add_root(vars(finalize).get("_registry"), ["global", "weakref", "finalize"])
    add_exits()
    add_signal_handlers()
    add_context()
    return go_on(position)


def walk_from_libraries(position):
    limits["libraries"] = True
    for name, module in dict(sys.modules).items():
        if type(module) is types.ModuleType and name not in own_modules:
            add_module(name, module)
    return go_on(position)


def tensors_of_collector():
    things = gc.get_objects()
    kinds = {kind for kind in set(map(type, things)) if TensorBase in type.__dict__["__mro__"].__get__(kind)}
    return list(itertools.compress(things, map(kinds.__contains__, map(type, things))))


def not_met(tensors):
    """Returns the tensors on the card that the walk has not met and whose storages it has not found, and the bytes of these."""
    found, known = [], dict(storages)
    for thing in tensors:
        if id(thing) not in seen:
            count = len(storages)
            note_if_on_card(thing, -1)
            if len(storages) > count:
                found.append(thing)
    rest_bytes = sum(size for address, (size, _) in storages.items() if address not in known)
    storages.clear()
    storages.update(known)
    return found, rest_bytes


def is_arguments(thing, targets):
    """Is it the tuple with which gc.get_referrers was called? CPython 3.13 returns it, too."""
    return type(thing) is tuple and is_whole(thing) and [id(item) for item in thing] == [id(target) for target in targets]


def group_of(tensors):
    """Returns some of these tensors and all objects that lead to them. Returns None if these are too many or a module is among
    them, because then a variable of a library holds the tensors."""
    group = tensors[::len(tensors) // SAMPLE_MAX + 1]
    met, targets = {id(thing) for thing in group}, list(group)
    for _ in range(REFERRER_LEVELS):
        new = []
        own = list(map(id, (tensors, group, targets, new)))
        for thing in gc.get_referrers(*targets):  # no inner function uses `thing`: its cell would be a referrer
            if id(thing) not in met and id(thing) not in own and seen.get(id(thing)) != OWN and not is_arguments(thing, targets):
                met.add(id(thing))
                new.append(thing)
        if not new:
            return group
        if len(new) > LEVEL_MAX or any(seen.get(id(thing)) == -1 for thing in new) or not may_go_on():
            return None
        group.extend(new)
        targets = new
    return None


def is_own_frame(thing):
    return type(thing) is types.FrameType and thing.f_code.co_filename.startswith("<gpumemtrace")


def all_leading_to(tensors):
    """Returns these tensors and the objects that lead to them, of those that the walk has not met."""
    things = [thing for thing in gc.get_objects() if id(thing) not in seen and thing is not tensors and not is_own_frame(thing)]
    known, leading = set(map(id, things)), {}
    for start in range(0, len(things), CHECK_EVERY):
        if not may_go_on():
            break
        part = things[start:start + CHECK_EVERY]
        referents = list(map(gc.get_referents, part))
        below = list(map(id, itertools.chain.from_iterable(referents)))
        above = itertools.chain.from_iterable(map(itertools.repeat, part, map(len, referents)))
        for thing, address in itertools.compress(zip(above, below), map(known.__contains__, below)):
            leading.setdefault(address, []).append(thing)
    group, met = list(tensors), set(map(id, tensors))
    for number, thing in enumerate(group):
        if not number % CHECK_EVERY and not may_go_on():
            break
        for each in leading.get(id(thing), ()):
            if id(each) not in met:
                met.add(id(each))
                group.append(each)
    return group


def walk_from_rest(group, tensors):
    """Walks from the objects that no root leads to, and notes who refers to whom."""
    rest["start"], rest["edges"], rest["group"] = len(objects), [], group
    limits["until"] -= (limits["until"] - time.thread_time()) * READING_SHARE
    for thing in group + tensors:
        add(thing, -1)
    tensors.clear()
    if go_on(rest["start"]) < rest["start"] + len(group):  # who holds the rest is unknown
        for address in [address for address, (_, at) in storages.items() if at >= rest["start"]]:
            del storages[address]


def references():
    """Returns {position: positions to which it refers} and {position: positions that refer to it}, both within the rest."""
    following, leading = {}, {}
    for above, below in zip(rest["edges"][::2], rest["edges"][1::2]):
        if above >= rest["start"] <= below:
            following.setdefault(above, []).append(below)
            leading.setdefault(below, []).append(above)
    return following, leading


def without_ends(following, places):
    """Returns the places that are left when those that no other place refers to are taken away, again and again."""
    counts = dict.fromkeys(places, 0)
    for at in places:
        for below in following.get(at, ()):
            if below in counts:
                counts[below] += 1
    free = [at for at, count in counts.items() if not count]
    for at in free:
        for below in following.get(at, ()):
            if below in counts:
                counts[below] -= 1
                if not counts[below]:
                    free.append(below)
    return {at for at, count in counts.items() if count}


def objects_of_cycles(following, leading):
    """Returns the positions of the objects in a cycle and of those that a cycle leads to, and of those in a cycle alone."""
    led = without_ends(following, range(rest["start"], len(objects)))
    return led, without_ends(leading, led)


def hand_down(found, following):
    """Gives all that these positions lead to the value of the nearest one."""
    order = list(found)
    for at in order:
        for below in following.get(at, ()):
            if below not in found:
                found[below] = found[at]
                order.append(below)
    return found


def objects_of_outside(following, leading):
    """Returns {position: position of the object that leads to it and has references from outside the rest}. C++ code counts as one
    reference to an object. Tensors do not count, because C++ code shares them in more ways than the walk sees. If the walk stopped,
    only the references to the group are all known."""
    cpp, own, found = set(rest["by_cpp"]), {id(thing): 1 for thing in rest["group"]}, {}
    for at in range(rest["start"], rest["start"] + len(rest["group"]) if limits["stopped"] else len(objects)):
        inner = 1 if at in cpp else len(leading.get(at, ()))
        known = inner + own.get(id(objects[at]), 0) + 2  # 2: `objects`, and the argument below
        if sys.getrefcount(objects[at]) > known and TensorBase not in type(objects[at]).__mro__:
            found[at] = at
    return hand_down(found, following)


def name_outside(at):
    """Returns the chain, kind and place of what C++ code refers to."""
    name = callback_of(objects[at])
    if name is not None:
        return f"<hook {name}>", "hook", place_of_call("hook")
    statement = call_that_made(objects[at])
    if statement is None:
        return "", "c++", NO_PLACE
    return start_of(["statement", statement[0], STATEMENT])["text"], "statement", text_of_place(statement)


def name_of_cell(at, leading):
    """Returns the name of the variable that the cell is for in a function of the rest."""
    for closure in leading.get(at, ()):
        for function in leading.get(closure, ()):
            if type(objects[function]) is types.FunctionType:
                for name, each in zip(objects[function].__code__.co_freevars, objects[function].__closure__ or ()):
                    if each is objects[at]:
                        return name
    return None


def place_of_reference(above, at, leading):
    """Returns the place that assigns the attribute or variable through which the first object refers to the second, or None."""
    holder = objects[above]
    if type(holder) is CellType:
        return choose("var", name_of_cell(above, leading), ["global", "__main__", None])
    if type(holder) is types.FrameType:
        return choose("var", name_in_frame(holder, objects[at]), ["local", holder.f_code, None])
    name = key_of(holder, objects[at]) if type(holder) is dict else slot_name(holder, objects[at])
    return choose("attr", name, ["global", "__main__", None])


def place_in_rest(at, leading):
    """Returns the place that makes the class, or else the first place of a reference to the object. The descriptors of a class
    have none. leading: {position: positions of the objects that refer to it}."""
    found = None
    if type in type(objects[at]).__mro__:
        found = choose("var", type.__dict__["__name__"].__get__(objects[at]), ["global", "__main__", None])
    elif type(objects[at]) in (types.GetSetDescriptorType, types.MemberDescriptorType):
        return NO_PLACE
    for above in leading.get(at, ()):
        found = found or place_of_reference(above, at, leading)
    return text_of_place(found)


def text_for(value):
    """UTF-8 without NUL, for holders.c."""
    return None if value is None else value.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")


def size_of(address):
    return storages[address][0]


def only_one(found, otherwise):
    return found.pop() if len(found) == 1 else otherwise


def places_of_cycles(closed, following, leading):
    """Returns {position: place that makes the cycle, or the nearest of several} of what the cycles lead to."""
    found = {at: place_in_rest(at, leading) for at in sorted(closed)}
    return hand_down({at: place for at, place in found.items() if place != NO_PLACE}, following)


def rows_of_rest():
    """Returns {position: chain, kind and place} of the storages in the rest. Those whose referrers were not looked for are as the
    others are, if these are all alike."""
    following, leading = references()
    (in_cycles, closed), outside = objects_of_cycles(following, leading), objects_of_outside(following, leading)
    note_births()
    places = places_of_cycles(closed, following, leading)
    shared = only_one(set(places.values()), NO_PLACE)  # the only place that makes a cycle
    rows, unknown = {}, []
    for _, at in storages.values():
        if at in outside:
            rows[at] = name_outside(outside[at])
        elif at in in_cycles:
            rows[at] = "", "cycle", places.get(at, shared)
        elif at >= rest["start"]:
            unknown.append(at)
    usual = only_one({(chain, kind) for chain, kind, _ in rows.values()}, ("", "c++"))
    place = only_one({place for _, _, place in rows.values()}, NO_PLACE)
    for at in unknown:
        rows[at] = name_outside(at)
        if rows[at][1] == "c++":
            rows[at] = usual[0], usual[1], place_in_rest(at, leading) if place == NO_PLACE else place
    return rows


def write_rows():
    scan_program()
    of_rest = {} if rest["start"] is None else rows_of_rest()
    for address in sorted(storages, key=size_of, reverse=True)[:ROWS_MAX]:
        size, at = storages[address]
        item, count = None, None
        trail = None if at in of_rest else trail_to(at)
        if trail is None:
            chain, kind, place = of_rest.get(at, ("", "c++", NO_PLACE))
        else:
            chain, kind, place, item, count = trail["text"], kind_of(trail), place_of(trail), trail["item"], trail["count"]
        row(address, size, kind, text_for(chain), text_for(item), -1 if count is None else count, text_for(place[0]),
            text_for(place[1]), place[2])


def is_large(rest_bytes, found_bytes):
    return rest_bytes >= REST_BYTES and rest_bytes * REST_RATIO > found_bytes and may_go_on()


def walk():
    """Walks from the program's variables. If many bytes are left, goes on with the functions of libraries that run, then with the
    objects that refer to the rest, or with all variables of libraries if those are many."""
    if len(sys._current_frames()) > 1:
        limits["steady_until"] = steady_until(switch_interval)
    set_limits()
    position = walk_from_program()
    found_bytes = sum(size for size, _ in storages.values())
    tensors, rest_bytes = not_met(tensors_of_collector())
    for add_more in (add_stacks_of_program, add_library_frames):
        if is_large(rest_bytes, found_bytes):
            add_more()
            position = go_on(position)
            tensors, rest_bytes = not_met(tensors)
    if is_large(rest_bytes, found_bytes):
        group = group_of(tensors)
        if group is None:
            walk_from_libraries(position)
            tensors, rest_bytes = not_met(tensors)
            group = all_leading_to(tensors)
        if is_large(rest_bytes, found_bytes):
            walk_from_rest(group, tensors)
    write_rows()
    done(len(objects), limits["stopped"])


def is_of_handler(error):
    """Did a signal handler of the program raise it? Python calls a handler with a number and a frame, and a hook of
    sys.addaudithook, which must not disturb the program here, with a name and a tuple."""
    trace = error.__traceback__
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith("<gpumemtrace"):
            kinds = [type(one) for value in trace.tb_frame.f_locals.values()
                     for one in (value if type(value) is tuple else (value,))]
            if (int, types.FrameType) in zip(kinds, kinds[1:]):
                return True
        trace = trace.tb_next
    return not isinstance(error, Exception)


def pass_on(error):
    """Called for an exception that the walk expects."""
    if is_of_handler(error):
        raise error


def start(task):
    try:
        with torch._C.DisableTorchFunction():
            task()
    except BaseException as error:
        is_handed_on = is_of_handler(error)
        if is_handed_on:
            hand_on(error.with_traceback(None))
        if reason != "attach":
            done(len(objects), "a signal handler of the program raised an exception" if is_handed_on else
                 text_for(f"{type(error).__name__}: {error}"[:200]))


start(attach if reason == "attach" else walk)
