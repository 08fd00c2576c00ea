# SPDX-License-Identifier: MIT
"""Allocates repeatedly from every shape of Python stack, so that a test can compare the trace's stacks
with those of traceback:

    python every_shape.py RUNTIME EXPECTED ROUNDS

Uses only the standard library. Runs on Python 3.8 and later.
"""
import asyncio
import ctypes
import functools
import gc
import sys
import threading
import types

from allocating import allocate, write_expected

ROUNDS = int(sys.argv[3])
LIBC = ctypes.CDLL(None)
COMPARE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


# --- shapes: each function allocates at least once -------------------------------------------------


def recursion(depth=40):
    if depth:
        return recursion(depth - 1)
    return allocate()


def deeper_than_the_limit():
    recursion(300)


def generator():
    def numbers(count):
        for number in range(count):
            allocate()
            yield number

    def through(source):
        yield from source
        allocate()

    list(through(numbers(3)))


def generator_that_is_thrown_into():
    def catching():
        try:
            yield 1
        except ValueError:
            allocate()
            yield 2
        finally:
            allocate()

    running = catching()
    next(running)
    running.throw(ValueError())
    running.close()


def expressions():
    [allocate() for _ in range(2)]
    {number: allocate() for number in range(2)}
    list(map(lambda _: allocate(), range(2)))
    any(
        allocate()
        for _ in range(
            2
        )
    )


def callbacks():
    def compare(_, __):
        allocate()
        return 0

    numbers = (ctypes.c_int * 2)(2, 1)
    LIBC.qsort(numbers, 2, 4, COMPARE(compare))


def callbacks_in_callbacks():
    def inner(_, __):
        allocate()
        return 0

    def outer(_, __):
        allocate()
        LIBC.qsort((ctypes.c_int * 2)(2, 1), 2, 4, COMPARE(inner))
        return 0

    LIBC.qsort((ctypes.c_int * 2)(2, 1), 2, 4, COMPARE(outer))


class Holder:
    def __init__(self, quiet=False):
        self.quiet = quiet
        if not quiet:
            allocate()

    def __del__(self):
        if not self.quiet:
            allocate()

    def __getattr__(self, name):
        allocate()
        return name

    def __lt__(self, other):
        allocate()
        return False

    def __enter__(self):
        allocate()
        return self

    def __exit__(self, *_):
        allocate()

    @property
    def value(self):
        return allocate()

    @classmethod
    def make(cls):
        allocate()
        return cls()


def classes():
    with Holder.make() as holder:
        holder.value
        holder.missing
        sorted([holder, Holder()])
        functools.partial(allocate)()
    del holder


def destructors_in_a_collection():
    one, two = Holder(), Holder()
    one.other, two.other = two, one
    del one, two
    gc.collect()


def decorated():
    @functools.lru_cache(maxsize=None)
    def cached(_):
        return allocate()

    @functools.wraps(cached)
    def wrapped(*arguments):
        return cached(*arguments)

    wrapped(1)


def coroutines():
    async def leaf():
        allocate()
        await asyncio.sleep(0)
        allocate()

    async def tree():
        await asyncio.gather(leaf(), leaf())
        async for _ in stream():
            allocate()

    async def stream():
        for number in range(2):
            allocate()
            yield number
            await asyncio.sleep(0)

    asyncio.run(tree())


def threads():
    def work():
        recursion(5)
        callbacks()

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def exceptions():
    try:
        raise ValueError
    except ValueError:
        allocate()
    finally:
        allocate()


def many_lines(number=0):
    number += 1; allocate()
    allocate(), allocate()
    return (
        allocate(),
        [
            allocate(),
        ],
    )


def unicode_näme_𝔵():
    exec(compile("def ünï():\n  allocate()\nünï()", "<\u4e2d\u6587 \u00e9 \udcff>", "exec"), globals())


def executed(number):
    """Creates and drops code objects, so that Python reuses their addresses."""
    text = "\n" * (number % 50) + f"def made_{number % 7}():\n    allocate()\n\n\nmade_{number % 7}()"
    exec(compile(text, f"<made {number % 11}>", "exec"), {"allocate": allocate})


def replaced(number):
    code = recursion.__code__.replace(co_name=f"renamed_{number % 5}", co_firstlineno=number % 900 + 1)
    types.FunctionType(code, globals(), "renamed", (2,))()


def long_function(number):
    """Runs a function with distant lines and more instructions than one entry of a line table can count."""
    filler = "    if x:\n" + "        x = [x, x, x]\n" * 200 + "\n" * (number % 300)
    text = f"def long(x=0):\n{filler}\n    allocate()\n{filler}\n    allocate()\nlong()"
    exec(compile(text, "<long>", "exec"), {"allocate": allocate})


SHAPES = [
    recursion, deeper_than_the_limit, generator, generator_that_is_thrown_into, expressions,
    callbacks, callbacks_in_callbacks, classes, destructors_in_a_collection, decorated, coroutines,
    threads, exceptions, many_lines, unicode_näme_𝔵,
]
NUMBERED = [executed, replaced, long_function]


def main():
    for number in range(ROUNDS):
        if number % 20 == 0:
            for shape in SHAPES:
                shape()
        for shape in NUMBERED:
            shape(number)
    write_expected()


main()
