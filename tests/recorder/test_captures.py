# SPDX-License-Identifier: MIT
"""Stream captures, and the graphs that are made from them, are events. These events hold the handles that the program
has."""

GRAPHS = (
    "SELECT kind, stream, object, address, result FROM events"
    " WHERE kind IN ('capture-begin', 'capture-end', 'graph-made', 'graph-destroy') ORDER BY seq"
)


def test_a_capture_its_graph_and_what_is_made_of_it_are_events(record, program):
    recording = record(program("captures"))
    stream, graph, executable = map(int, recording.completed.stdout.split())
    assert recording.rows(GRAPHS) == [
        ("capture-begin", stream, 0, 0, 0), ("capture-end", stream, graph, 0, 0),
        ("graph-made", 0, executable, graph, 0),
        ("graph-destroy", 0, graph, 0, 0), ("graph-destroy", 0, executable, 0, 0),
        ("capture-begin", stream, 0, 0, 0), ("capture-end", stream, 0, 0, 0),  # this capture was not valid
    ]  # fmt: skip


def test_what_cannot_be_captured_is_no_capture(record, program):
    rows = record(program("captures"), fault="cuStreamBeginCapture_v2:1=800", check=False).rows(GRAPHS)
    assert [(kind, result) for kind, *_, result in rows] == [("capture-begin", 800)]
