# SPDX-License-Identifier: MIT
"""`frag --what-if=SETTING` predicts the bytes that PyTorch reserves in a dry run with that setting. If the run was
recorded with a setting, the model of the allocator with this setting gives exactly the recorded bytes."""
import pytest

from support.run import load_json, sentences_of

SCRIPTS = {
    "cnn": ("cnn.py",),
    "gpt": ("gpt.py",),
    "gpt with checkpointing": ("gpt.py", "--checkpoint"),
    "lstm": ("lstm.py",),
    "leak": ("leak.py",),
    "mlp": ("mlp.py", "adam-foreach"),
    "streams": ("empty_cache.py",),
    "out of memory, tried again": ("oom_retry.py",),
    "fragmented": ("fragmented.py",),
    "growing batches": ("growing.py",),
    "graphs": ("graphs.py",),
    "garbage": ("garbage.py",),
}
SETTINGS = {
    "expandable_segments": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"},
    "max_split_size=128MiB": {"PYTORCH_CUDA_ALLOC_CONF": "max_split_size_mb:128"},
}
# These scripts cannot run without PyTorch's cache. Without it, a failure raises an exception that the scripts do not
# catch, and PyTorch cannot capture a graph.
FAILING = ("out of memory, tried again", "fragmented", "graphs")
WITHIN = 0.02
# The trace lacks the requested sizes of cuDNN's workspaces. For a block that was not split, the model uses the size of
# the block, which is larger than the requested size by up to WHOLE_BLOCK_EXCESS. So the model serves fewer requests
# from free memory and may map one more piece of an expandable segment.
WHOLE_BLOCK_EXCESS, EXPANDABLE_PIECE = 1 << 20, 20 << 20
WHOLE_BLOCKS_COUNT = {("debian", "cnn", "expandable_segments")}


def what_if(recording, setting):
    (device,) = load_json("frag", recording.trace, f"--what-if={setting}", "--samples=1")["devices"]
    return device["what_if"]


def held_at_most(recording):
    """Returns the peak of PyTorch's reserved bytes."""
    (device,) = load_json("report", recording.trace)["devices"]
    (pool,) = device["pools"]
    return pool["peak_reserved_bytes"]


def counted_sizes(recording):
    return [size for (size,) in recording.rows("SELECT size_bytes FROM event WHERE kind = 1 AND memory = 10 AND result = 0 ORDER BY seq")]


def driver_held_at_most(recording):
    (device,) = load_json("report", recording.trace)["devices"]
    return device["driver"]["peak_bytes"]


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_setting_holds_what_pytorch_holds_with_it(torch_build, dry_run, script, setting):
    found = what_if(dry_run(*SCRIPTS[script]), setting)
    real = dry_run(*SCRIPTS[script], **SETTINGS[setting])
    assert found["replayed"], found
    if found["at_least"]:
        # After the first failure the program behaves differently.
        assert found["peak_reserved_bytes"] > 0
        return
    if (torch_build.name, script, setting) in WHOLE_BLOCKS_COUNT:
        plain, cut = counted_sizes(dry_run(*SCRIPTS[script])), counted_sizes(real)
        excess = [size - asked for size, asked in zip(plain, cut, strict=True)]
        assert 0 <= min(excess) and 0 < max(excess) <= WHOLE_BLOCK_EXCESS
        assert 0 <= found["peak_reserved_bytes"] - held_at_most(real) <= EXPANDABLE_PIECE
        return
    assert found["peak_reserved_bytes"] == pytest.approx(held_at_most(real), rel=WITHIN)


@pytest.mark.parametrize("script", [name for name in SCRIPTS if name not in FAILING])
def test_without_its_cache_pytorch_holds_what_is_live(dry_run, script):
    plain = dry_run(*SCRIPTS[script])
    uncached = dry_run(*SCRIPTS[script], PYTORCH_NO_CUDA_MEMORY_CACHING=1)
    outside = driver_held_at_most(plain) - held_at_most(plain)  # for example cuBLAS's own memory
    found = what_if(plain, "no-cache")
    assert found["replayed"], found
    assert found["peak_reserved_bytes"] + outside == pytest.approx(driver_held_at_most(uncached), rel=WITHIN)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("script", SCRIPTS)
def test_the_model_gives_what_was_recorded_under_each_setting(dry_run, script, setting):
    recording = dry_run(*SCRIPTS[script], **SETTINGS[setting])
    found = what_if(recording, "no-cache")
    assert found["replayed"], found
    assert found["recorded_peak_reserved_bytes"] == held_at_most(recording)


@pytest.mark.parametrize("fraction", ["1", "0.04"])
@pytest.mark.parametrize("setting", ["", "expandable_segments:True", "max_split_size_mb:32"])
def test_the_model_gives_random_use_with_graphs_streams_and_failures(dry_run, setting, fraction):
    recording = dry_run("random_use.py", 1, fraction, PYTORCH_CUDA_ALLOC_CONF=setting)
    found = what_if(recording, "no-cache")
    assert found["replayed"], found
    assert found["recorded_peak_reserved_bytes"] == held_at_most(recording)
    assert bool(found["failures_left"] + found["failures_served"] + found["failures_unknown"]) == (fraction != "1")


@pytest.mark.parametrize("seed", [2, 4])
def test_random_use_with_expandable_segments_is_foretold_to_the_byte(dry_run, seed):
    """The model must know the requested sizes, because many blocks are handed out whole."""
    found = what_if(dry_run("random_use.py", seed, "1"), "expandable_segments")
    assert found["replayed"], found
    assert found["peak_reserved_bytes"] == held_at_most(dry_run("random_use.py", seed, "1", **SETTINGS["expandable_segments"]))


def test_garbage_is_collected_as_pytorch_does(dry_run):
    threshold = {"PYTORCH_CUDA_ALLOC_CONF": "garbage_collection_threshold:0.6"}
    found = what_if(dry_run("garbage.py"), "garbage_collection=0.6,memory_fraction=0.25")
    real = held_at_most(dry_run("garbage.py", **threshold))
    assert found["replayed"] and not found["at_least"]
    assert found["peak_reserved_bytes"] == pytest.approx(real, rel=WITHIN)
    assert real < held_at_most(dry_run("garbage.py"))


def test_a_block_that_waits_for_another_stream_is_named_where_it_matters(dry_run):
    found = what_if(dry_run("streams.py"), "no-cache")
    if not found["replayed"]:
        assert "waits for another stream's event" in found["difference"]


def test_the_report_advises_expandable_segments_with_what_the_model_would_have_reserved(dry_run):
    """No allocation fails: each batch is larger than the segments that earlier batches left."""
    recording = dry_run("growing.py")
    (advice,) = (text for text in sentences_of(load_json("report", recording.trace)) if "expandable_segments" in text)
    mib = what_if(recording, "expandable_segments")["peak_reserved_bytes"] / (1 << 20)
    assert f": {mib:.2f} MiB reserved at most, in place of " in advice
