# SPDX-License-Identifier: MIT
"""Tests the export for ui.perfetto.dev, which protobuf decodes with Perfetto's own descriptors: counters, slices,
instants."""

from export.perfetto_schema import read
from support.run import load_json
from support.tracefile import MIB

COUNTER, BEGIN, END, INSTANT = 4, 1, 2, 3
BYTES = 3


class Reader:
    """Reads a file and asserts that the slices of a track are nested, that a track is described before its events, and
    that counters count bytes."""

    def __init__(self, path):
        self.slices, self.counters, self.instants, self.processes, self.tracks = [], {}, [], [], {}
        packets = read(path)
        assert packets[0].sequence_flags == 1 and {packet.trusted_packet_sequence_id for packet in packets} == {1}
        for packet in packets:
            if packet.HasField("track_descriptor"):
                self.take_track(packet.track_descriptor)
            else:
                assert packet.HasField("timestamp") and packet.track_event.track_uuid in self.tracks
        open_slices = {}
        # The viewer sorts packets by time; packets of the same time stay in the order of the file.
        for packet in sorted((packet for packet in packets if packet.HasField("track_event")), key=lambda packet: packet.timestamp):
            self.take(packet.timestamp, packet.track_event, open_slices)
        assert not any(open_slices.values())

    def take_track(self, track):
        assert track.uuid not in self.tracks and (track.parent_uuid in self.tracks or track.HasField("process"))
        self.tracks[track.uuid] = track
        if track.HasField("process"):
            self.processes.append(track.process)
        if track.HasField("counter"):
            assert track.counter.unit == BYTES

    def take(self, now, event, open_slices):
        track = self.tracks[event.track_uuid]
        assert track.HasField("counter") == (event.type == COUNTER) == event.HasField("counter_value")
        if event.type == COUNTER:
            self.counters.setdefault(track.name, []).append((now, event.counter_value))
        elif event.type == INSTANT:
            self.instants.append((now, event.name, *event.categories))
        elif event.type == BEGIN:
            open_slices.setdefault(event.track_uuid, []).append((event.name, now))
        else:
            assert event.type == END
            self.slices.append((*open_slices[event.track_uuid].pop(), now))


def test_counters_reach_what_was_live_and_reserved(made_trace, export):
    counters = Reader(export("perfetto", made_trace)).counters
    devices = load_json("report", made_trace)["devices"]
    (pool,) = devices[0]["pools"]
    assert set(counters) == {"device 0 (pytorch pool) live", "device 0 (pytorch pool) reserved", "device 0 (driver) live", "device 1 (driver) live"}
    most = {name: max(value for _, value in values) for name, values in counters.items()}
    last = {name: values[-1][1] for name, values in counters.items()}
    assert most["device 0 (pytorch pool) live"] == pool["peak_live_bytes"] == 90 * MIB
    assert most["device 0 (pytorch pool) reserved"] == pool["peak_reserved_bytes"] == 100 * MIB
    assert last["device 0 (pytorch pool) live"] == pool["live_at_exit_bytes"] == 70 * MIB
    assert most["device 1 (driver) live"] == devices[1]["driver"]["peak_bytes"] == 7 * MIB


def test_phases_are_slices_inside_each_other(trace, export):
    with trace.phase("epoch"):
        with trace.phase("forward"):
            trace.alloc(1)
        trace.push("range", source=1, range_id=7)
        with trace.phase("backward"):
            trace.alloc(2)
    trace.pop(source=1, range_id=7)
    trace.push("open at the end")
    trace.write()
    assert sorted(Reader(export("perfetto", trace.path)).slices) == [
        ("backward", 6000, 8000), ("epoch", 1000, 9000), ("forward", 2000, 4000), ("open at the end", 11000, 11000), ("range", 5000, 10000)
    ]  # fmt: skip


def test_times_never_go_back_where_threads_differ(trace, export):
    with trace.phase("outer"):
        trace.alloc(1)
        trace.alloc(2, thread=2)
    seq, time, *rest = trace.events[3]  # the pop gets an earlier time, as if its thread had read the clock earlier
    trace.events[3] = (seq, 500, *rest)
    trace.write()
    reader = Reader(export("perfetto", trace.path))
    assert reader.slices == [("outer", 1000, 3000)]
    assert reader.counters == {"device 0 (driver) live": [(2000, 1), (3000, 3)]}


def test_failures_steps_and_marks_are_instants(trace, export):
    trace.alloc(5)
    trace.step(3)
    trace.event("mark", object=trace.string("checkpoint\x1b"))
    trace.fail(1 << 40, stack=trace.stack(("train.py", 7, "step")))
    trace.write()
    assert sorted(Reader(export("perfetto", trace.path)).instants) == [
        (2000, "step 3"), (3000, "checkpoint?"), (4000, "out of memory: 1.00 TiB on device 0", "failure"),
    ]  # fmt: skip
    assert b"\x1b" not in export("perfetto", trace.path).read_bytes()


def test_no_peak_is_lost_where_counters_are_thinned(trace, export):
    peaks = []
    for number in range(100_000):
        if number % 10_001 == 5_000:  # at varying places of the thinned intervals
            peaks.append((1 << 30) + number)
            trace.alloc(peaks[-1], address=64)
            trace.free(64, device=0)
        trace.alloc(number % 7 + 1, address=1 << 40)
        trace.free(1 << 40, device=0)
    trace.write()
    (values,) = Reader(export("perfetto", trace.path)).counters.values()
    assert len(peaks) == 10 and len(values) < 160_000
    assert set(peaks) <= {value for _, value in values}


def test_only_the_device_that_was_asked_for_has_counters(made_trace, export):
    assert set(Reader(export("perfetto", made_trace, "--device=1")).counters) == {"device 1 (driver) live"}


def test_the_process_is_named_by_its_command(made_trace, export):
    (process,) = Reader(export("perfetto", made_trace)).processes
    assert process.process_name == "python train.py"


def test_a_failure_has_its_bytes_and_its_stack(trace, export):
    trace.fail(1 << 40, stack=trace.stack(("train.py", 7, "step")))
    trace.write()
    (event,) = (packet.track_event for packet in read(export("perfetto", trace.path)) if packet.track_event.type == INSTANT)
    values = {note.name: note.int_value if note.HasField("int_value") else note.string_value for note in event.debug_annotations}
    assert (values["bytes"], values["result"]) == (1 << 40, 2) and "train.py:7" in values["stack"]
