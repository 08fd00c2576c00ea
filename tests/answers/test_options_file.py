# SPDX-License-Identifier: MIT
"""A file that names a model and the options of its run. Also tests `check --estimate` with such a file."""
import json

import pytest

from support.run import ROOT, load_json, run_command
from support.tracefile import Trace

VGG = (ROOT / "samples/vgg16.json").read_text()
LINEAR = {"schema": "gpumemtrace.model/1", "input": [32], "layers": [{"type": "Linear", "in": 32, "out": 16, "bias": False}]}
INPUT, OUTPUT, WEIGHTS = 4 * 100 * 32, 4 * 100 * 16, 4 * 32 * 16


@pytest.fixture
def write(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models/vgg16.json").write_text(VGG)
    (tmp_path / "models/linear.json").write_text(json.dumps(LINEAR))

    def write(name="run.json", **keys):
        path = tmp_path / name
        path.write_text(json.dumps(keys))
        return path

    return write


def test_a_file_of_options_is_the_same_as_the_options(write, tmp_path):
    path = write(model="models/vgg16.json", batch=8, optimizer="momentum", dtype="bf16", workspace="8MiB", context="1GiB", gpu="24GiB")
    given = ["--batch=8", "--optimizer=momentum", "--dtype=bf16", "--workspace=8MiB", "--context=1GiB", "--gpu=24GiB"]
    assert load_json("estimate", path) == load_json("estimate", tmp_path / "models/vgg16.json", *given)


def test_a_flag_is_true_or_false(write, tmp_path):
    for value, options in ((True, ["--inference"]), (False, [])):
        path = write(model="models/vgg16.json", inference=value)
        assert load_json("estimate", path) == load_json("estimate", tmp_path / "models/vgg16.json", *options)


def test_the_command_line_wins(write):
    path = write(model="models/vgg16.json", batch=8, optimizer="sgd")
    settings = load_json("estimate", path, "--batch=2")["settings"]
    assert (settings["batch"], settings["optimizer"]) == (2, "sgd")


def test_an_absolute_path_stays_one(write, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    path = write("elsewhere/run.json", model=str(tmp_path / "models/vgg16.json"), batch=4)
    assert load_json("estimate", path)["settings"]["batch"] == 4


def test_a_model_that_comes_with_the_command_is_known_by_its_name(write):
    assert load_json("estimate", write(model="vgg16", batch=4)) == load_json("estimate", "vgg16", "--batch=4")


def test_a_model_may_have_such_a_key_itself(write):
    path = write(schema="gpumemtrace.model/1", model="x", input=[32], layers=LINEAR["layers"])
    assert "field 'model' is unknown" in run_command("estimate", path).stderr


BAD = {
    "a mistyped option": ({"batc": 8}, "field 'batc' is not an option; did you mean 'batch'?"),
    "a batch of words": ({"batch": "many"}, "field 'batch' has a wrong value: 'many' is not a whole number"),
    "a batch of none": ({"batch": 0}, "field 'batch' has a wrong value: '0' is out of range"),
    "a number for a name": ({"optimizer": 3}, "field 'optimizer' must be a text, not 3"),
    "a word for a flag": ({"inference": "yes"}, "field 'inference' must be true or false"),
    "a list": ({"batch": [1]}, "field 'batch' must be a text"),
    "no such model": ({"model": "models/none.json"}, "models/none.json: No such file"),
    "itself": ({"model": "run.json"}, "run.json: is not a model description"),
    "an unknown name": ({"dtype": "int3"}, "unknown dtype 'int3'"),
}


@pytest.mark.parametrize("keys, part", BAD.values(), ids=BAD)
def test_a_bad_file_of_options_is_refused_in_one_line(write, keys, part):
    completed = run_command("estimate", write(**{"model": "models/vgg16.json", **keys}))
    assert completed.returncode == 2 and completed.stdout == ""
    assert part in completed.stderr and completed.stderr.count("\n") == 1


# --- check -----------------------------------------------------------------------------------------


def record(path, extra=0):
    """Records the step of the estimate for 100 samples. The forward pass holds `extra` more bytes."""
    trace = Trace(path)
    with trace.phase("init"):
        trace.alloc(WEIGHTS)
    with trace.phase("data"):
        trace.alloc(INPUT)
    with trace.phase("forward"):
        trace.alloc(OUTPUT)
        if extra:
            trace.alloc(extra, stack=trace.stack(("/home/me/train.py", 11, "keep")))
    with trace.phase("backward"):
        trace.alloc(OUTPUT)
        trace.alloc(WEIGHTS)
    return trace.write()


def check(trace, model, *options):
    return run_command("check", f"--estimate={model}", trace, *options)


def test_a_run_within_the_estimate_passes(write, tmp_path):
    model = write(model="models/linear.json", batch=100, optimizer="sgd")
    assert check(record(tmp_path / "as.db"), model, "--tolerance=0%").returncode == 0
    less = write("more.json", model="models/linear.json", batch=1000, optimizer="sgd")
    assert check(record(tmp_path / "less.db"), less, "--tolerance=0%").returncode == 0


@pytest.mark.parametrize("tolerance, status", [("10%", 1), ("31%", 1), ("32%", 0), ("1000%", 0)])
def test_a_run_above_the_estimate_breaks_it_beyond_the_tolerance(write, tmp_path, tolerance, status):
    model = write(model="models/linear.json", batch=100, optimizer="sgd")
    completed = check(record(tmp_path / "above.db", extra=9400), model, f"--tolerance={tolerance}")  # 31.7 %
    assert completed.returncode == status, completed.stderr


def test_a_broken_estimate_names_the_departure_and_its_line(write, tmp_path):
    model = write(model="models/linear.json", batch=100, optimizer="sgd")
    result = json.loads(check(record(tmp_path / "above.db", extra=50000), model, "--json").stdout)
    assert result["answer"][0].startswith("The limit is broken: device 0 driver peak is 77.83 KiB, the estimate allows ")
    assert result["answer"][1].startswith("Largest departure: Activations, 48.83 KiB more than estimated in backward")
    row = result["checks"][0]
    assert (row["kind"], row["site"], row["file"], row["line"]) == ("estimate", "train.py:11 keep", "/home/me/train.py", 11)


def test_blocks_of_a_framework_are_held_against_blocks(write, tmp_path):
    trace = Trace(tmp_path / "pool.db")
    trace.tensor(trace.alloc(2 << 20), 30208)  # the size to which the allocator rounds the 29696 bytes of the estimate
    model = write(model="models/linear.json", batch=100, optimizer="sgd")
    assert check(trace.write(), model, "--tolerance=0%").returncode == 0


def test_a_bad_model_is_refused_before_the_trace_is_read(write, tmp_path):
    completed = check(tmp_path / "none.db", write(model="models/none.json"))
    assert completed.returncode == 2 and "models/none.json" in completed.stderr


def test_the_first_line_is_whole_within_a_line_of_a_terminal(write, tmp_path):
    trace = Trace(tmp_path / "pool.db")
    trace.tensor(trace.alloc(1024 << 20), (1024 << 20) - 11000)  # 1023.99 MiB, the longest text of a size
    first = check(trace.write(), write(model="models/linear.json", batch=2 << 20, optimizer="sgd")).stdout.split("\n")[0]
    assert first.startswith("The limit is broken: device 0 pytorch pool peak is 1023.99 MiB, the estimate allows ")
    assert first.endswith("MiB.") and len(first) <= 100
