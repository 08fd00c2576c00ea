# SPDX-License-Identifier: MIT
"""What keeps memory alive, in made traces with walks over Python's objects. tests/unit/analyzer/analysis/held_sums.c tries
the joining of walks and blocks; tests/reference computes the same figures a second time."""
import re

import pytest

from support.run import ROOT, load_json, run_command
from support.tracefile import MIB, Trace

STORE = ("score.py", 28, "main")


def kinds_of(path, macro):
    return re.findall(rf'^{macro}\("([^"]+)"', (ROOT / path).read_text(), flags=re.M)


def test_each_kind_of_holder_has_its_words():
    words = kinds_of("analyzer/page/holders/holder_words.def", "HOLDER")
    assert words == kinds_of("include/gpumemtrace/schema/holder_kinds.def", "HOLDER_KIND") and len(words) > 15


class Program:
    """Keeps a tensor of PyTorch's pool in each step. In step 1 it makes a model as well."""

    def __init__(self, path, steps=12):
        self.trace, self.kept = Trace(path), []
        self.next = self.trace.alloc(512 * MIB, stack=self.trace.stack(("train.py", 1, "start")))
        self.model = self.tensor(3, 4 * MIB)
        for number in range(1, steps + 1):
            self.kept.append(self.tensor(17, MIB))
            self.trace.tensor_free(self.tensor(18, 2 * MIB))
            self.trace.step(number)

    def tensor(self, line, size):
        at, self.next = self.next, self.next + size
        return self.trace.tensor(at, size, stack=self.trace.stack(("score.py", line, "Scorer.forward")))

    def backward(self):
        with self.trace.phase("backward"):
            self.trace.tensor_free(self.tensor(90, MIB))
        return self

    def walk(self, kind, chain, items=None, place=STORE, reason="end", count=12):
        self.trace.walk(reason, (self.model, 4 * MIB, "module", "model.weight", None, None),
                        *((address, MIB, kind, chain, items, place) for address in self.kept[:count]))
        return self

    def write(self):
        self.trace.exit()
        return self.trace.write()


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path / "trace.db")


def test_leaks_by_holder_lists_them_and_joins_items_of_one_list(program):
    trace = program.walk("list", "losses[*]", 12).write()
    (device,) = load_json("leaks", trace)["devices"]
    pool, weight, *rest = device["leaks"]["holders"]
    assert pool == {"layer": "pool", "pool": "pytorch", "bytes": 12 * MIB, "count": 12, "chain": "losses[*]", "kind": "list",
                    "items_count": 12, "function": "main", "file": "score.py", "line": 28, "walk_reason": "end",
                    "walk_seq": len(program.trace.events) - 1}  # fmt: skip
    assert (weight["chain"], weight["file"], weight["bytes"], rest) == ("model.weight", None, 4 * MIB, [])
    shown = run_command("leaks", "--by=holder", trace).stdout
    assert "losses (list of 12), filled at score.py:28" in shown.split("Holders at the last walk")[1]
    assert "Holders at the last walk" not in run_command("leaks", trace).stdout


def test_leaks_by_holder_without_walks_says_how_to_get_them(program):
    shown = " ".join(run_command("leaks", "--by=holder", program.write()).stdout.split())
    assert "The trace has no walk over Python's objects, which finds the holders" in shown


def test_memory_that_no_object_of_pythons_keeps_is_listed_as_such(program):
    program.trace.tensor(program.next, 64 * MIB)
    (device,) = load_json("leaks", program.walk("list", "losses[*]").write())["devices"]
    first = device["leaks"]["holders"][0]
    assert (first["chain"], first["kind"], first["bytes"]) == (None, None, 64 * MIB)


def test_rows_that_grow_say_what_keeps_them(program):
    trace = program.walk("list", "losses[*]", 12).write()
    (device,) = load_json("leaks", trace)["devices"]
    assert [row["kept_by"] for row in device["leaks"]["growing"]] == ["losses[*]"]
    assert "kept by losses (list of 12), filled at score.py:28\n" in run_command("leaks", trace).stdout


def test_a_trace_without_walks_has_no_key_of_holders(program):
    page = load_json("leaks", program.write())["devices"][0]["leaks"]
    assert "holders" not in page and "kept_by" not in page["growing"][0]
