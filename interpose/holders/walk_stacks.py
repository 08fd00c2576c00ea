# SPDX-License-Identifier: MIT
"""
The fourth part of walk.py, in one namespace with it: the values of running statements that no variable has, such as a list that
an expression still fills, an argument of a call, or what a loop iterates over. CPython keeps them on the stack of the frame.

A running frame does not say how high its stack is, so the height comes from the bytecode. A word there may be stale, so it is
taken for an object only if the garbage collector knows an object at this address.
"""
# pylint: disable=undefined-variable

calls = []  # the calls of C code that run: [code and line of the statement, addresses on the stack of its frame]
births = {}  # address: number of an object that no collection has met yet; objects made later have larger numbers
stacks = {}  # id of a code object and offset: what stack_at returns, because recursive functions have many frames
INSTRUCTION_IN_FRAME = 56  # CPython 3.11 to 3.13
INSTRUCTION_IN_OBJECT = 96 if MINOR == 10 else 104  # of the frame objects up to CPython 3.10
MAKES_GENERATOR = 0x20 | 0x80 | 0x200  # flags of the code of generators and coroutines
STATEMENT, LOOP, WITH = "<running statement>", "<running loop>", "<running with>"
# Instructions that leave a value on the stack for a whole block: its distance from the top, and its text.
BLOCKS = {"GET_ITER": (1, LOOP), "GET_AITER": (1, LOOP), "BEFORE_WITH": (2, WITH), "BEFORE_ASYNC_WITH": (2, WITH),
          "SETUP_WITH": (2, WITH)}
NEVER_FALLS_THROUGH = ("JUMP_FORWARD", "JUMP_ABSOLUTE", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "RETURN_VALUE",
                       "RETURN_CONST", "RAISE_VARARGS", "RERAISE")


def effect_of(instruction, jump):
    argument = instruction.arg if instruction.opcode >= dis.HAVE_ARGUMENT else None
    return dis.stack_effect(instruction.opcode, argument, jump=jump)


def heights_at_start(code):
    """Returns {offset of an instruction: height of the stack before it}, of the first one and of handlers of exceptions."""
    is_pushed = code.co_flags & MAKES_GENERATOR and MINOR in (10, 11)  # the first instruction takes a value off the stack
    found = {0: 1 if is_pushed else 0}
    for entry in dis._parse_exception_table(code) if MINOR >= 11 else ():
        found[entry.target] = entry.depth + entry.lasti + 1
    return found


def stack_at(code, running):
    """Returns the running line, and [line, text] of each slot of the stack at the running instruction."""
    heights, lines = heights_at_start(code), dict(dis.findlinestarts(code))
    after, height, blocks, line = None, 0, {}, code.co_firstlineno
    for instruction in dis.get_instructions(code):
        if instruction.offset > running:
            break
        line = lines.get(instruction.offset) or line
        before = heights.get(instruction.offset, after)
        if before is None:  # nothing before leads here
            continue
        if instruction.opcode in dis.hasjrel or instruction.opcode in dis.hasjabs:
            heights.setdefault(instruction.argval, before + effect_of(instruction, True))
        after = before + effect_of(instruction, False)
        blocks = {slot: block for slot, block in blocks.items() if slot < after}
        if instruction.opname in BLOCKS:
            distance, text = BLOCKS[instruction.opname]
            blocks[after - distance] = [line, text]
        taken = instruction.arg if MINOR == 11 and instruction.opname == "CALL" else 0  # dis counts these as taken by PRECALL
        height = max(before + taken, after)
        if instruction.opname in NEVER_FALLS_THROUGH:
            after = None
    return line, [blocks.get(slot, [line, STATEMENT]) for slot in range(min(height, code.co_stacksize))]


def offset_of_running(code, place):
    """Returns the offset of the instruction that runs, and the address of the first slot of the stack. place: see frame_of."""
    variables = len(code.co_varnames) + len(code.co_cellvars) + len(code.co_freevars)
    if MINOR < 11:
        thing = place - types.FrameType.__basicsize__ + 8
        running = ctypes.c_int.from_address(thing + INSTRUCTION_IN_OBJECT).value
        return running * (2 if MINOR == 10 else 1), place + 8 * variables
    frame = address_of(place)
    variables -= sum(name in code.co_varnames for name in code.co_cellvars)
    running = word(frame + INSTRUCTION_IN_FRAME) - id(code) - types.CodeType.__basicsize__
    return running, frame + SLOTS_IN_FRAME + 8 * variables


def reached(code, place):
    """Returns the offset of the instruction that runs; None: unknown. place: see frame_of. A frame of another thread may go on
    before it is read, so its own object is asked since CPython 3.13."""
    if place is None:
        return None
    return place.f_lasti if MINOR >= 13 else offset_of_running(code, place)[0]


def words_of(frame):
    """Returns the running line, and [word, line, text] of each slot of the frame's stack."""
    code, place = frame[:2]
    running, start = offset_of_running(code, place)
    key = f"{id(code)} {running}"
    if key not in stacks:
        stacks[key] = stack_at(code, running)
    line, slots = stacks[key]
    return line, [[word(start + 8 * slot), *each] for slot, each in enumerate(slots)]


def add_stacks(is_wanted):
    """Makes roots of the values that running statements have, outermost function first, and notes which calls of C code run."""
    words, statements = {}, {}  # number of a thread: code and line of its innermost frame of the program
    calls.clear()
    for frame in running_frames(False):
        code, place, thread, in_c = frame
        if place is None or not may_go_on():
            continue
        line, own = words_of(frame)
        if is_of_program(code.co_filename):
            statements[thread] = [code, line]
        if in_c and thread in statements:
            calls.append([statements[thread], [address for address, _, _ in own]])
        if is_wanted(code.co_filename):
            for address, each, text in own:
                words.setdefault(address, ["statement", code, text, each])
    found = known_objects(words)
    for address, mark in words.items():
        if address in found and address not in seen:
            add_root(found[address], mark)


def add_stacks_of_program():
    add_stacks(is_of_program)


def add_library_frames():
    for mark, value in library_locals:
        add_root(value, mark)
    library_locals.clear()
    add_stacks(is_of_library)


# --- what C code holds while it runs ---

def note_births():
    wanted = {address for _, addresses in calls for address in addresses}
    wanted.update(map(id, objects[rest["start"]:]))
    births.update((id(thing), number) for number, thing in enumerate(gc.get_objects(generation=0)) if id(thing) in wanted)


def call_that_made(thing):
    """Returns code and line of the statement whose running call of C code made the object: of the calls that began before the
    object was made, the one that began last. A call began after the values on the stack of its frame were made."""
    made = births.get(id(thing))
    found, began = None, -1
    for statement, addresses in calls if made is not None else ():
        newest = max((births[address] for address in addresses if address in births), default=made)
        if began <= newest < made:
            found, began = statement, newest
    return found
