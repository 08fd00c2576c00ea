# SPDX-License-Identifier: MIT
"""Memory that a pool reserved and does not use: which moment `report` and `frag` speak of, why the memory is idle, who
requested it, and what to do."""
import pytest

from support.agreement import disagreements
from support.run import load_json, sentences_of
from support.tracefile import MIB, Trace

GIB = 1024 * MIB
ONCE, EMPTY_CACHE, LARGEST = "Use fewer streams", "torch.cuda.empty_cache()", "Make the largest requests first"


@pytest.fixture
def trace(tmp_path):
    made = Trace(tmp_path / "trace.db")
    made.card(16 * GIB, 0)
    return made


def page(trace, command, *options):
    if not trace.path.exists():
        trace.exit()
        trace.write()
    return load_json(command, *options, trace.path)


def said(trace, command, *options):
    """Returns the sentences of a command as a list of (role, text), first those of the verdict."""
    found = page(trace, command, *options)
    return [(one["role"], one["text"]) for one in found["verdict"] + found["more"]]


def do(sentences):
    return [text for role, text in sentences if role == "do"]


def use(trace, size, line, stream=0, segment=None):
    """Allocates and frees a tensor, in a new segment of its own size unless another one is given. Returns the segment."""
    stack = trace.stack((f"{line}.py", 1, line))
    segment = trace.alloc(size) if segment is None else segment
    trace.tensor(segment, size, stack=stack, stream=stream)
    trace.tensor_free(segment)
    return segment


def fresh_streams(trace, count=8):
    use(trace, 256 * MIB, "train")
    for stream in range(1, count + 1):
        use(trace, 256 * MIB, "send", stream=stream)


def growing_sizes(trace):
    for number in range(1, 9):
        use(trace, 256 * MIB + 32 * number * MIB, "extend")


def growing_sizes_after_a_larger_load(trace):
    """The live peak is that of a load whose segments the pool gave back."""
    loaded = [trace.filled_segment(256 * MIB) for _ in range(8)]
    for segment in loaded:
        trace.tensor_free(segment)
        trace.free(segment)
    growing_sizes(trace)


def a_large_phase(trace):
    """Five requests of a smaller size live at once follow one large request, which is idle by then."""
    use(trace, 3 * GIB, "prompt")
    for _ in range(5):
        trace.filled_segment(512 * MIB)


def loaded_beside_the_model(trace):
    """The model and a copy of its weights fill their segments; then the copy is freed, and a small and a larger segment
    follow."""
    stacks = [trace.stack((f"{line}.py", 1, line)) for line in ("model", "load")]
    held = [(trace.alloc(20 * MIB), stack) for stack in stacks for _ in range(100)]
    for segment, stack in held:
        trace.tensor(segment, 20 * MIB, stack=stack)
    for segment, stack in held[100:]:
        trace.tensor_free(segment)
    use(trace, 2 * MIB, "serve")
    use(trace, 22 * MIB, "serve")


def small_blocks_in_large_segments(trace):
    stack = trace.stack(("keep.py", 1, "keep"))
    for _ in range(8):
        segment = trace.alloc(512 * MIB)
        trace.tensor(segment, 1 * MIB, stack=stack)
        use(trace, 400 * MIB, "work", segment=segment + 1 * MIB)


CASES = {
    fresh_streams: ("2.00 GiB of it lay in segments of 8 other streams, and a segment serves only its own stream.",
                    "Most of the idle memory was requested by send.py:1 send (1.75 GiB).", ONCE),
    growing_sizes: ("2.62 GiB of it lay in whole segments that were too small for later requests.",
                    "Most of the idle memory was requested by extend.py:1 extend (2.62 GiB).", LARGEST),
    growing_sizes_after_a_larger_load: ("2.62 GiB of it lay in whole segments that were too small for later requests.",
                                        "Most of the idle memory was requested by extend.py:1 extend (2.62 GiB).", LARGEST),
    a_large_phase: ("Most of it lay in whole segments: it is cached, not fragmented.",
                    "Most of the idle memory was requested by prompt.py:1 prompt (3.00 GiB).", EMPTY_CACHE),
    small_blocks_in_large_segments: ("3.60 GiB of it could not go back to the driver because live blocks lie beside it.",
                                     "Most of it is pinned by keep.py:1 keep: 3.49 GiB beside 8 blocks of 8.00 MiB in all.",
                                     None),
}  # fmt: skip


@pytest.mark.parametrize("fill", CASES, ids=lambda fill: fill.__name__)
def test_idle_memory_has_a_cause_a_line_and_a_way_out(trace, fill):
    why, who, way = CASES[fill]
    fill(trace)
    for command in ("report", "frag"):
        sentences = said(trace, command)
        assert sentences[1][1].startswith(why[:-1]) and ("who", who) in sentences, command
        assert [text[: len(way)] for text in do(sentences)[:1]] == [way] if way else not do(sentences), command
    assert not disagreements(trace.path)


def test_frag_asks_the_model_whether_expandable_segments_help_where_sizes_were_outgrown(trace):
    growing_sizes(trace)
    assert page(trace, "frag")["next"].startswith("gpumemtrace frag --what-if=expandable_segments ")


def test_segments_that_were_full_at_later_requests_were_not_too_small_for_them(trace):
    loaded_beside_the_model(trace)
    assert said(trace, "frag") == [
        ("what", "On device 0 (pytorch pool), 1.96 GiB of the 3.93 GiB reserved lay idle at the reserved peak."),
        ("why", "Most of it lay in whole segments: it is cached, not fragmented."),
        ("who", "Most of the idle memory was requested by load.py:1 load (1.95 GiB)."),
        ("do", "torch.cuda.empty_cache() gives it back, except memory that a MemPool keeps."),
    ]


@pytest.mark.parametrize("fill, advice", [(growing_sizes, "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True: "), (fresh_streams, "")])
def test_the_report_advises_expandable_segments_only_if_the_model_shows_that_they_help(trace, fill, advice):
    fill(trace)
    found = [text for text in do(said(trace, "report")) if "expandable_segments" in text]
    assert [text[: len(advice)] for text in found] == [advice][: len(advice)]


def test_frag_does_not_ask_about_expandable_segments_for_idle_memory_of_other_streams(trace):
    fresh_streams(trace)
    assert page(trace, "frag")["next"] is None


def test_the_report_says_first_that_more_was_reserved_than_was_ever_live(trace):
    fresh_streams(trace)
    first, *_, peak, line = said(trace, "report")
    assert first == ("what", "Reserved 2.25 GiB of 16.00 GiB at its peak on device 0 (pytorch pool), 2.00 GiB of it idle.")
    assert peak[0] == "what" and peak[1].startswith("Peak 256.00 MiB") and line[0] == "who"
    assert said(trace, "frag")[0][1] == "On device 0 (pytorch pool), 2.00 GiB of the 2.25 GiB reserved lay idle at the reserved peak."


@pytest.mark.parametrize("every, large, small, is_released, is_said", [
    (1000, 6 * GIB, 64 * MIB, False, True),    # one large request, then many small ones
    (1000, 6 * GIB, 2 * GIB, False, False),    # what follows needs a third of it, as the rest of a training step may
    (20, 6 * GIB, 64 * MIB, False, False),     # a loop, whose large request comes again
    (1000, 6 * GIB, 64 * MIB, True, False),    # the pool gives its memory back
    (1000, 320 * MIB, 64 * MIB, False, False), # too little to matter
])  # fmt: skip
def test_the_report_says_what_stays_reserved_to_the_end_although_nothing_needs_it(trace, every, large, small, is_released, is_said):
    kept = use(trace, small, "small")
    big = use(trace, large, "large")
    for number in range(200):
        use(trace, small, "small", segment=kept)
        if number % every == every - 1:
            use(trace, large, "large", segment=big)
        if is_released and not number:
            trace.free(big)
    sentences = said(trace, "report")
    told = [
        ("what", "6.06 GiB stays reserved to the end on device 0, 6.00 GiB of it idle since a step held 6.00 GiB."),
        ("why", "At most 64.00 MiB was live in the second half of the allocations, and the pytorch pool keeps what was freed before."),
        ("who", "Most of it by large.py:1 large (6.00 GiB), when 6.00 GiB was live."),
        ("do", "torch.cuda.empty_cache() after that step: 6.00 GiB less."),
    ]  # fmt: skip
    assert (sentences[:4] == told) == is_said
    assert any("stays reserved" in text for _, text in sentences) == is_said
    of_frag = said(trace, "frag")
    assert (of_frag[:4] == told) == is_said and not (is_said and any("no concern" in text for _, text in of_frag))
    assert not any("stays reserved" in text for _, text in said(trace, "frag", "--at=peak"))


@pytest.mark.parametrize("is_captured", [True, False])
def test_what_a_graph_keeps_does_not_stay_reserved_for_nothing(trace, is_captured):
    small = use(trace, 64 * MIB, "small")
    if is_captured:
        trace.event("capture-begin", stream=7)
    use(trace, 6 * GIB, "large", stream=7)
    if is_captured:
        trace.event("capture-end", stream=7, object=0x91)
    for _ in range(200):
        use(trace, 64 * MIB, "small", segment=small)
    assert any("stays reserved" in text for _, text in said(trace, "report")) != is_captured


def test_the_moment_is_the_one_with_most_live_bytes_while_most_is_reserved(trace):
    """The last segment is requested while little is live. The next step uses the other segments again."""
    segments = [trace.filled_segment(512 * MIB) for _ in range(8)]
    for segment in segments:
        trace.tensor_free(segment)
    trace.filled_segment(2 * MIB)
    for segment in segments:
        trace.tensor(segment, 511 * MIB)
    assert "no concern: 8.00 MiB of the 4.00 GiB" in said(trace, "frag")[0][1]


def test_a_cache_as_large_as_the_live_peak_is_no_excess(trace):
    segments = [trace.filled_segment(512 * MIB) for _ in range(8)]
    for segment in segments:
        trace.tensor_free(segment)
    trace.filled_segment(2 * MIB)
    assert said(trace, "report")[0][1].startswith("Peak 4.00 GiB")


def test_without_the_size_of_the_card_the_report_claims_no_excess(tmp_path):
    trace = Trace(tmp_path / "trace.db")
    fresh_streams(trace)
    assert said(trace, "report")[0][1].startswith("Peak 256.00 MiB")


def test_on_a_card_without_limit_an_excess_is_judged_as_on_a_small_card(tmp_path):
    trace = Trace(tmp_path / "trace.db", simulated=1, dry_run="any")
    trace.card(1024 * GIB, 0)
    fresh_streams(trace)
    first = "Reserved 2.25 GiB at its peak on device 0 (pytorch pool), 2.00 GiB of it idle."
    assert said(trace, "report")[0] == ("what", first)


def test_a_program_with_two_streams_is_not_told_to_use_fewer(trace):
    use(trace, 2 * GIB, "train")
    use(trace, 1 * GIB, "copy", stream=1)
    why = "2.00 GiB of it lay in segments of 1 other stream, and a segment serves only its own stream; at most 2.00 GiB was live."
    assert ("why", why) in said(trace, "report")
    assert [text[: len(EMPTY_CACHE)] for text in do(said(trace, "report"))] == [EMPTY_CACHE]


def test_a_leak_comes_before_reserved_memory(trace):
    stack = trace.stack(("leak.py", 7, "keep"))
    fresh_streams(trace)
    segment = trace.alloc(512 * MIB)
    for number in range(8):
        trace.tensor(segment + number * MIB, 1 * MIB, stack=stack)
        trace.step(number)
    whats = [text for role, text in said(trace, "report") if role == "what"]
    assert [what.split()[0] for what in whats] == ["Leak:", "Reserved"]


def test_an_asked_moment_stays_the_moment(trace):
    fresh_streams(trace)
    assert said(trace, "frag", "--at=peak")[1] == ("why", "Less than 5 % of the card lay idle in the pytorch pool then.")
    moment = page(trace, "frag")["devices"][0]["fragmentation"]
    assert moment["at"] == "peak" and moment["live_bytes"] == 256 * MIB


def test_frag_speaks_of_a_failure_for_which_idle_and_free_memory_together_were_enough(trace):
    growing_sizes(trace)
    trace.device_memory(2 * GIB, 16 * GIB, call=9, nested=1)
    trace.fail(4 * GIB, call=9)
    trace.fail(4 * GIB, "tensor")
    assert page(trace, "oom")["oom"][0]["verdict"] in ("fragmented", "cached")
    assert "lay idle when 4.00 GiB failed" in said(trace, "frag")[0][1]
    assert not disagreements(trace.path)


# --- growth of reserved memory ---

STEPS = 20


def steps_with_streams(trace, rounds, steps=STEPS):
    """In each of the first `rounds` steps, one new stream gets a segment of 256 MiB. Later steps use them again."""
    segments = [use(trace, 256 * MIB, "train")]
    for number in range(steps):
        if number < rounds:
            segments.append(use(trace, 256 * MIB, "send", stream=number + 1))
        else:
            use(trace, 256 * MIB, "send", stream=number % rounds + 1, segment=segments[number % rounds + 1])
        trace.step(number)


@pytest.mark.parametrize(
    "rounds, sentence",
    [(12, "The driver's memory grew in 10 steps, by 256.00 MiB each, then stopped."),
     (19, "The driver's memory grew in 17 steps, by 256.00 MiB each.")],
)  # fmt: skip
@pytest.mark.parametrize("options", [(), ("--layer=driver",)])
def test_leaks_says_that_the_drivers_memory_grew_although_nothing_leaks(trace, options, rounds, sentence):
    steps_with_streams(trace, rounds)
    sentences = said(trace, "leaks", *options)
    assert sentences[0][1].startswith("No leak: live bytes ")
    assert sentences[1] == ("why", sentence)
    assert sentences[2][1].startswith(f"Reserved {(rounds + 1) / 4:.2f} GiB of 16.00 GiB") and sentences[2] in said(trace, "report")


def test_leaks_says_nothing_of_reserved_memory_that_the_tensors_need(trace):
    steps_with_streams(trace, 1)
    assert len(said(trace, "leaks")) == 1


@pytest.mark.parametrize("rounds, sentences", [(1, []), (12, ["Reserved memory grew, not live memory: its peak went from 512.00 MiB to 3.25 GiB."])])
def test_diff_speaks_of_reserved_memory_if_the_peak_is_the_same(tmp_path, rounds, sentences):
    paths = []
    for name, count in (("before", 1), ("after", rounds)):
        made = Trace(tmp_path / f"{name}.db")
        made.card(16 * GIB, 0)
        steps_with_streams(made, count)
        made.exit()
        paths.append(made.write())
    said = sentences_of(load_json("diff", *paths))
    assert said[0].startswith("The peak is the same")
    assert [text for text in said if text.startswith("Reserved")] == sentences


@pytest.mark.parametrize("beside, has_stack, who", [
    (1, True, "Most of it is pinned by keep.py:1 keep: 3.92 GiB beside 4 blocks of 80.00 MiB in all."),
    (2, True, "keep.py:1 keep pins most alone: 1004.00 MiB, beside 4 blocks of 80.00 MiB in all."),
    (2, False, "Blocks without a stack pin most alone: 1004.00 MiB, beside 4 blocks of 80.00 MiB in all."),
])  # fmt: skip
def test_a_line_that_pins_little_alone_does_not_pin_most(trace, beside, has_stack, who):
    """Four segments of 1 GiB hold a small tensor each. In the other cases, three of them hold one of another line, too."""
    lines = [trace.stack(("keep.py", 1, "keep")) if has_stack else None, trace.stack(("note.py", 1, "note"))]
    segments = [trace.filled_segment(GIB) for _ in range(4)]
    for number, segment in enumerate(segments):
        trace.tensor_free(segment)
        for each in range(beside if number else 1):
            trace.tensor(segment + each * 20 * MIB, 20 * MIB, stack=lines[each])
    assert ("who", who) in said(trace, "frag", "--at=end")
