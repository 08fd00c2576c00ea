# SPDX-License-Identifier: MIT
"""Memory of other processes at the time of a failed allocation, as NVML reported it. Several programs on one simulated
card ask NVML. The card has 16 GiB, and a context takes 300 MiB."""
import subprocess

import pytest

from support.run import LIBRARY, TIMEOUT_S, load_json, run_command
from support.tracefile import MIB, Trace

GIB = 1 << 30
CARD, CONTEXT = 16 * GIB, 300 * MIB


class Process:
    """A recorded program on the shared card. It runs the commands that a test gives it."""

    def __init__(self, program, environment, trace):
        self.trace = trace
        self.child = subprocess.Popen(
            [program], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

        # At this moment its context exists, so that the first sample of the next process includes this context.
        assert self.child.stdout.readline() == "ready\n"

    def tell(self, line):
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()
        return self.child.stdout.readline().split()

    def end(self):
        self.child.communicate(timeout=TIMEOUT_S)
        assert self.child.returncode == 0


@pytest.fixture
def start(program, sim_env, tmp_path):
    running = []

    def run(name, spec="16GiB"):
        trace = tmp_path / name
        environment = sim_env(spec, LD_PRELOAD=LIBRARY, GPUMEMTRACE_OUTPUT=trace, GPUMEMTRACE_SIM_SHARED=tmp_path / "card")
        running.append(Process(program("who_uses_card"), environment, trace))
        return running[-1]

    yield run
    for process in running:
        process.child.kill()
        process.child.wait()


def terms(oom):
    assert sum(term["bytes"] for term in oom["sum"]) == CARD
    return {term["term"]: (term["bytes"], term["source"]) for term in oom["sum"]}


def only(trace):
    (oom,) = load_json("oom", trace)["oom"]
    return oom


def refuse(neighbour, this):
    """This process asks for 4000 MiB. At that time the other process holds 6000 MiB and this process holds 8000 MiB."""
    assert (neighbour.tell("alloc 6000"), this.tell("alloc 8000"), this.tell("alloc 4000")) == (["0"], ["0"], ["2"])


# --- memory by NVML ---


@pytest.mark.parametrize("suffix", ["-", "_v2", "_v3"])
def test_what_nvml_tells_the_program_of_other_processes_is_counted(start, suffix):
    neighbour, this = start("b.db"), start("a.db")
    refuse(neighbour, this)
    answer = this.tell(f"ask {suffix} 8")
    assert answer == ["0", "2", f"{this.child.pid}:{8000 * MIB + CONTEXT}", f"{neighbour.child.pid}:{6000 * MIB + CONTEXT}"]
    this.end()
    oom = only(this.trace)
    assert (oom["verdict"], oom["others_source"], oom["others_bytes"]) == ("others", "NVML", 6000 * MIB + CONTEXT)
    assert oom["other_processes"] == [{"pid": neighbour.child.pid, "bytes": 6000 * MIB + CONTEXT}]
    assert terms(oom) == {
        "program": (8000 * MIB, "counted"),
        "context": (CONTEXT, "NVML"),
        "others": (6000 * MIB + CONTEXT, "NVML"),
        "free": (CARD - 14000 * MIB - 2 * CONTEXT, "counted"),
    }
    assert f"Process {neighbour.child.pid} held 6.15 GiB of the card, as NVML reported" in oom["explanation"]


def test_the_ledger_at_the_failure_has_what_nvml_told(start):
    neighbour, this = start("b.db"), start("a.db")
    refuse(neighbour, this)
    this.tell("ask - 8")
    this.end()
    (device,) = load_json("ledger", this.trace, "--at=oom:1")["devices"]
    (moment,) = device["moments"]
    found = {term["owner"]: (term["bytes"], term["source"]) for term in moment["terms"]}
    assert found["others"] == (6000 * MIB + CONTEXT, "NVML")
    assert found["own_context"] == (CONTEXT, "NVML")
    assert moment["unaccounted_bytes"] == 0


def test_an_answer_that_nvml_does_not_give_is_none(start):
    this = start("a.db", spec="16GiB,others=3GiB")
    assert (this.tell("alloc 8000"), this.tell("alloc 9000")) == (["0"], ["2"])
    assert this.tell("ask _v3 1") == ["7", "2"]  # the buffer has no room for two processes
    this.end()
    oom = only(this.trace)
    assert oom["others_source"] == "difference" and oom["other_processes"] == []


class Case:
    """A process that holds 8 GiB, is refused 4 GiB, and asks NVML."""

    def __init__(self, path):
        self.trace = Trace(path, pid=10, exit_status=1)
        self.trace.rows["device"].append((0, "GPU-1", "Card", CARD, CONTEXT))
        self.trace.alloc(8 * GIB)
        self.trace.device_memory(GIB, CARD, call=1, nested=1)
        self.trace.fail(4 * GIB, call=1)

    def told(self, *processes, device=0, thread=1):
        for pid, size in processes:
            self.trace.event("process-memory", address=len(processes), size=size, object=pid, device=device, thread=thread)

    def oom(self):
        return only(self.trace.write())


@pytest.fixture
def case(tmp_path):
    return lambda: Case(tmp_path / "trace.db")


OWN = (10, 8 * GIB + CONTEXT)


def test_what_is_of_no_process_that_nvml_names_is_told_apart_and_may_be_the_reason(case):
    """15 GiB are in use. 8 GiB and the context belong to this process, and 1 GiB belongs to another process. The
    remaining memory would have been enough for the request, whichever process holds it."""
    made = case()
    made.told(OWN, (11, GIB))
    oom = made.oom()
    assert oom["verdict"] == "unknown" and "in use on the card to no process" in oom["explanation"]
    assert terms(oom)["unlisted"] == (15 * GIB - 9 * GIB - CONTEXT, "difference")
    assert terms(oom)["others"] == (GIB, "NVML")


def test_the_ledger_calls_what_is_of_no_process_that_nvml_names_as_oom_does(case):
    made = case()
    made.told(OWN, (11, GIB))
    made.oom()
    ledger = run_command("ledger", made.trace.path, "--at=oom:1").stdout
    assert "not attributed by NVML" in ledger and "unaccounted" not in ledger


def test_the_ledger_at_a_failure_between_those_that_are_kept_has_what_nvml_told(case):
    """The page keeps the first hundred and the last hundred of 302 failures."""
    made = case()
    for number in range(2, 302):
        made.trace.fail(4 * GIB)
        if number == 150:
            made.told(OWN, (11, GIB))
    made.trace.fail(4 * GIB)
    made.trace.write()
    (device,) = load_json("ledger", made.trace.path, "--at=oom:150")["devices"]
    (moment,) = device["moments"]
    assert ("others", GIB, "NVML") in [(term["owner"], term["bytes"], term["source"]) for term in moment["terms"]]


def test_a_context_that_nvml_shows_to_have_grown_is_no_other_process(case):
    """All memory in use besides the 8 GiB belongs to this process: its context has 7 GiB."""
    made = case()
    made.told((10, 15 * GIB))
    oom = made.oom()
    assert oom["verdict"] == "exhausted" and terms(oom)["context"] == (7 * GIB, "NVML")


@pytest.mark.parametrize(
    "processes, where",
    [
        ([(11, 8 * GIB), (12, 6 * GIB)], {}),  # a container may see other process ids
        ([OWN, (11, 2**63 - 1)], {}),  # NVML does not report the bytes
        ([OWN, (11, 6 * GIB)], {"thread": 2}),
        ([OWN, (11, 6 * GIB)], {"device": None}),
    ],
    ids=["without this process", "without bytes", "of another thread", "of another card"],
)
def test_an_answer_that_does_not_tell_processes_apart_is_not_used(case, processes, where):
    made = case()
    made.told(*processes, **where)
    oom = made.oom()
    assert oom["others_source"] == "difference" and "NVML" not in {source for _, source in terms(oom).values()}


def test_an_answer_from_when_the_process_held_something_else_is_not_used(case):
    made = case()
    made.trace.alloc(2 * MIB)
    made.told(OWN, (11, 6 * GIB))
    assert made.oom()["others_source"] == "difference"


def test_an_answer_that_is_cut_short_is_not_used(case):
    """The process was killed while the answer was being recorded. Only one of the answer's two rows is in the trace."""
    made = case()
    made.told(OWN, (11, 6 * GIB))
    made.trace.events.pop()
    assert made.oom()["others_source"] == "difference"


def test_of_many_processes_the_four_largest_have_names(case):
    made = case()
    made.told(OWN, *((20 + size, size * 256 * MIB) for size in (1, 3, 2, 5, 4)))
    oom = made.oom()
    assert [one["pid"] for one in oom["other_processes"]] == [25, 24, 23, 22]
    assert oom["others_bytes"] == 15 * 256 * MIB
