# SPDX-License-Identifier: MIT
"""The recording has facts that the real PyTorch reports in addition to its blocks: the streams of blocks, PyTorch's
version, the allocator's settings."""
import json

from support.run import load_json

MIB = 1 << 20


def told(recording):
    return json.loads(recording.completed.stdout.splitlines()[-1])


def test_a_tensor_has_the_stream_that_pytorch_gave_it(dry_run):
    recording = dry_run("facts.py")
    side = told(recording)["side"]
    rows = recording.rows("SELECT size_bytes, stream, result FROM event WHERE memory = 10 AND kind = 1 ORDER BY seq")
    assert rows == [(4 * MIB, 0, 0), (12 * MIB, side, 0), (4096 * 1024 * MIB, side, 2), (20 * MIB, 0, 0)]
    assert side


def test_the_version_is_the_one_that_pytorch_states(dry_run):
    recording = dry_run("facts.py")
    assert recording.rows("SELECT name, version FROM framework") == [("torch", told(recording)["version"])]
    assert load_json("info", recording.trace)["frameworks"] == [{"name": "torch", "version": told(recording)["version"]}]


def test_settings_are_those_of_the_environment_and_those_that_pytorch_took_last(dry_run):
    recording = dry_run("facts.py")
    assert recording.rows("SELECT name, value FROM allocator_setting WHERE lower(name) LIKE 'pytorch%' ORDER BY name") == [
        ("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:256"), ("pytorch", "max_split_size_mb:128")]
