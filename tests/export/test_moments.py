# SPDX-License-Identifier: MIT
"""Exports of live memory at a moment, read with other projects' tools or schemas, have the same totals as `peak`."""
import json
import pathlib
import re
import subprocess

import pytest

from support.made_traces import MADE
from support.run import TIMEOUT_S, load_json
from support.tracefile import MIB, Trace

FLAMEGRAPH = pathlib.Path("/usr/share/perl5/Devel/NYTProf/flamegraph.pl")
MOMENTS = ["peak", "end", "phase:forward", "oom:1"]
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")


def live(trace, at, *options):
    """Returns {device: live bytes at the moment} from `peak`, for the layer of memory that `peak` names first."""
    devices = load_json("peak", trace, f"--at={at}", *options)["devices"]
    return {device["device"]: device["moments"][0]["live_bytes"] for device in devices if device["moments"][0]["seq"]}


def stacks_of(text):
    """Returns [(frames, bytes)] of collapsed stacks: frames are separated by semicolons, a space precedes the weight."""
    lines = [line.rpartition(" ") for line in text.splitlines()]
    return [(stack.split(";"), int(weight)) for stack, _, weight in lines]


def speedscope_stacks(document):
    """Yields the [(frames, bytes)] of each profile, and asserts the properties that the schema of speedscope requires."""
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = document["shared"]["frames"]
    for profile in document["profiles"]:
        assert (profile["type"], profile["unit"], profile["startValue"]) == ("sampled", "bytes", 0)
        assert len(profile["samples"]) == len(profile["weights"])
        assert sum(profile["weights"]) == profile["endValue"]
        yield [([frames[number] for number in sample], weight) for sample, weight in zip(profile["samples"], profile["weights"])]


@pytest.mark.parametrize("at", MOMENTS)
def test_collapsed_stacks_add_up_to_what_was_live(made_trace, export, at):
    stacks = stacks_of(export("collapsed", made_trace, f"--at={at}").read_text())
    wanted = live(made_trace, at)
    assert sum(weight for _, weight in stacks) == sum(wanted.values()) > 0
    assert {stack[0] for stack, _ in stacks if len(wanted) > 1} <= {"device 0 (pytorch pool)", "device 1 (driver)"}


def test_a_flame_graph_of_collapsed_stacks_shows_the_peak(made_trace, export):
    if not FLAMEGRAPH.exists():
        pytest.skip("flamegraph.pl is not there (Debian: libdevel-nytprof-perl)")
    drawn = subprocess.run(["perl", FLAMEGRAPH, "--countname=bytes", export("collapsed", made_trace)],
                           capture_output=True, text=True, check=True, timeout=TIMEOUT_S)  # fmt: skip
    assert f"all ({sum(live(made_trace, 'peak').values()):,} bytes, 100%)" in drawn.stdout
    assert f"device 1 (driver) ({7 * MIB:,} bytes" in drawn.stdout
    assert drawn.stderr == "" and "<script>" not in drawn.stdout.split("</script>")[-1]


@pytest.mark.parametrize("at", MOMENTS)
def test_speedscope_has_a_profile_for_each_device_with_what_was_live_there(made_trace, export, at):
    profiles = list(speedscope_stacks(json.loads(export("speedscope", made_trace, f"--at={at}").read_text())))
    assert [sum(weight for _, weight in profile) for profile in profiles] == list(live(made_trace, at).values())


def test_speedscope_frames_run_from_the_outermost_to_the_allocation(made_trace, export):
    (profile,) = speedscope_stacks(json.loads(export("speedscope", made_trace, "--device=1").read_text()))
    assert profile == [([{"name": "main", "file": "main.py", "line": 2}, {"name": "other", "file": "other.py", "line": 1}], 7 * MIB)]


@pytest.mark.parametrize("at", MOMENTS)
def test_a_pprof_profile_adds_up_to_what_was_live(made_trace, export, at):
    schema = pytest.importorskip("export.pprof_schema", reason="no decoder of protobuf (Debian: python3-protobuf)")
    profile = schema.read(export("pprof", made_trace, f"--at={at}"))
    texts = profile.string_table
    assert texts[0] == ""
    assert [(texts[kind.type], texts[kind.unit]) for kind in profile.sample_type] == [("inuse_objects", "count"), ("inuse_space", "bytes")]
    assert texts[profile.default_sample_type] == "inuse_space"
    found = {}
    for sample in profile.sample:
        labels = {texts[label.key]: texts[label.str] for label in sample.label}
        device = int(re.match(r"device (\d+) ", labels["device"])[1])
        found[device] = found.get(device, 0) + sample.value[1]
    assert found == {device: held for device, held in live(made_trace, at).items() if held}


def test_a_pprof_sample_leads_from_the_allocation_to_its_callers(made_trace, export):
    schema = pytest.importorskip("export.pprof_schema", reason="no decoder of protobuf (Debian: python3-protobuf)")
    profile = schema.read(export("pprof", made_trace, "--device=0"))
    texts = profile.string_table
    functions = {function.id: function for function in profile.function}
    locations = {location.id: location for location in profile.location}
    assert 0 not in functions and 0 not in locations
    stacks = [[(texts[functions[line.function_id].name], texts[functions[line.function_id].filename], line.line)
               for number in sample.location_id for line in locations[number].line] for sample in profile.sample]  # fmt: skip
    assert ["malloc", "=1+1", "layer0", "layer1", "layer2"] in [[name for name, _, _ in stack] for stack in stacks]
    assert all(stack[1][1] == "evil.py" and stack[2] == ("layer0", "model.py", 10) for stack in stacks)
    assert not [text for text in texts if CONTROLS.search(text)]


@pytest.mark.parametrize("name", ["collapsed", "speedscope"])
def test_a_text_that_a_terminal_would_obey_reaches_none(made_trace, export, name):
    text = export(name, made_trace).read_bytes().decode()
    assert "?[31mred" in text and not CONTROLS.search(text)


def test_a_semicolon_in_a_name_makes_no_frame(made_trace, export):
    (stack,) = [stack for stack, _ in stacks_of(export("collapsed", made_trace).read_text()) if "a:b 7 (evil.py:2)" in stack]
    assert stack == ["device 0 (pytorch pool)", *(f"layer{i} (model.py:{10 + i})" for i in (2, 1, 0)), "a:b 7 (evil.py:2)", "malloc"]


def test_bytes_that_are_no_utf8_are_replaced(tmp_path, export):
    trace = Trace(tmp_path / "bytes.db")
    trace.alloc(5, stack=trace.stack("@bad@"))
    trace.write()
    trace.path.write_bytes(trace.path.read_bytes().replace(b"@bad@", b"\xffbad\xfe"))
    assert export("collapsed", trace.path).read_bytes() == "\ufffdbad\ufffd 5\n".encode()
    (profile,) = speedscope_stacks(json.loads(export("speedscope", trace.path).read_bytes().decode()))
    assert profile == [([{"name": "\ufffdbad\ufffd"}], 5)]


def test_an_allocation_without_a_stack_has_a_frame_that_says_so(tmp_path, export):
    trace = Trace(tmp_path / "bare.db")
    trace.alloc(5)
    trace.write()
    assert export("collapsed", trace.path).read_text() == "(no stack was taken) 5\n"


def test_a_run_without_memory_has_no_stacks(tmp_path, export):
    trace = Trace(tmp_path / "idle.db")
    trace.write()
    assert export("collapsed", trace.path).read_text() == ""


def test_another_layer_can_be_asked_for(made_trace, export):
    stacks = stacks_of(export("collapsed", made_trace, "--layer=driver", "--device=0").read_text())
    assert [weight for _, weight in stacks] == [100 * MIB]


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("at", ["peak", "end"])
def test_of_any_made_up_trace_collapsed_stacks_add_up(tmp_path, export, name, at):
    fill, meta = MADE[name]
    trace = Trace(tmp_path / "made.db", **meta)
    fill(trace)
    trace.write()
    stacks = stacks_of(export("collapsed", trace.path, f"--at={at}").read_text())
    assert sum(weight for _, weight in stacks) == sum(live(trace.path, at).values())
