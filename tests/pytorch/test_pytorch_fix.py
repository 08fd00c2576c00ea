# SPDX-License-Identifier: MIT
"""`gpumemtrace fix` with the real PyTorch: it finds a remedy for four scripts that run out of memory in four ways, names the
guilty line of two more, and promises nothing for a script that cannot fit. The printed command lines are run again."""
import json
import shlex
import subprocess

import pytest

from support.pytorch_builds import BYTECODE, SCRIPTS
from support.run import BUILD, TIMEOUT_S, clean_environment, sentences_of, texts_of

VARIABLES = {"debian": "PYTORCH_CUDA_ALLOC_CONF", "wheel": "PYTORCH_ALLOC_CONF"}


def fix(build, folder, *words, options=(), status=0, **environment):
    """Returns the parsed JSON of `fix --json OPTIONS -- python WORDS`."""
    completed = subprocess.run(
        [BUILD / "gpumemtrace", "fix", "--json", *options, "--", build.python, *map(str, words)],
        env=clean_environment(**BYTECODE, **environment), cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=TIMEOUT_S, check=False)  # fmt: skip
    assert completed.returncode == status, completed.stderr
    answer = json.loads(completed.stdout)
    for remedy in answer["remedies"]:
        assert answer["runs"][remedy["run"] - 1]["end"] == "fits"
    return answer


def paste(line, spec, folder, **environment):
    """Returns whether a shell runs the line on a card of `spec` without an OutOfMemoryError."""
    completed = subprocess.run(
        [BUILD / "gpumemtrace", "run", "-o", folder / "pasted.db", f"--dry-run={spec}", "--", "sh", "-c", f"exec env {line}"],
        env=clean_environment(**BYTECODE, **environment), cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S,
        check=False)  # fmt: skip
    return completed.returncode == 0 and "OutOfMemory" not in completed.stderr


def test_a_fragmented_run_is_rescued_by_the_setting_that_its_release_obeys(torch_build, tmp_path):
    answer = fix(torch_build, tmp_path, SCRIPTS / "advice.py", "fragments", options=["--limit=1345MiB"])
    remedy = answer["remedies"][0]
    setting = f"{VARIABLES[torch_build.name]}=expandable_segments:True"
    assert (remedy["kind"], remedy["change"]) == ("setting", setting)
    assert remedy["line"].startswith(f"{setting} {torch_build.python} ")
    assert answer["answer"][0] == f"Out of memory; fits with {setting}."
    assert answer["answer"][-1].startswith(f"Run it with {setting}, seen in one run: peak ")
    assert f"{VARIABLES[torch_build.name]}=max_split_size_mb:128" in answer["ruled_out"]
    assert paste(remedy["line"], "1345MiB", tmp_path)


def test_what_the_variable_says_already_is_kept(torch_build, tmp_path):
    variable = VARIABLES[torch_build.name]
    answer = fix(torch_build, tmp_path, SCRIPTS / "advice.py", "fragments", options=["--limit=1345MiB", "--max-runs=2"],
                 **{variable: "max_split_size_mb:4096"})  # fmt: skip
    assert answer["remedies"][0]["change"] == f"{variable}=max_split_size_mb:4096,expandable_segments:True"


def test_a_batch_too_large_is_rescued_by_the_largest_that_fits(torch_build, tmp_path):
    answer = fix(torch_build, tmp_path, SCRIPTS / "fixable.py", "batch", "--batch-size=64",
                 options=["--limit=1GiB", "--vary=batch-size", "--max-runs=8"])  # fmt: skip
    remedy = answer["remedies"][0]
    assert remedy["kind"] == "number" and "accumulate gradients" in remedy["price"]
    assert 32 <= int(remedy["change"].split()[1]) < 64
    assert shlex.split(remedy["line"])[-1] == f"--batch-size={remedy['change'].split()[1]}"
    assert paste(remedy["line"], "1GiB", tmp_path)


def test_a_sequence_too_long_is_rescued_by_a_shorter_one(torch_build, tmp_path):
    answer = fix(torch_build, tmp_path, SCRIPTS / "fixable.py", "sequence", SEQUENCE=4096,
                 options=["--limit=1GiB", "--vary=SEQUENCE", "--max-runs=6"])  # fmt: skip
    remedy = answer["remedies"][0]
    assert remedy["line"].startswith(f"SEQUENCE={remedy['change'].split()[1]} ") and "shorter sequences" in remedy["price"]
    assert paste(remedy["line"], "1GiB", tmp_path, SEQUENCE=4096)


def test_a_library_beside_a_full_cache_is_rescued_without_the_cache_and_its_line_is_named(torch_build, tmp_path):
    answer = fix(torch_build, tmp_path, SCRIPTS / "fixable.py", "library", options=["--limit=1GiB"])
    (remedy,) = answer["remedies"]
    assert remedy["change"] == "PYTORCH_NO_CUDA_MEMORY_CACHING=1" and remedy["price"].startswith("slow: ")
    (row,) = [row for row in answer["not_tried"] if row["remedy"] == "empty_cache"]
    assert "before fixable.py:" in row["advice"] and row["gain_bytes"] > 600 << 20
    assert paste(remedy["line"], "1GiB", tmp_path)


@pytest.mark.parametrize(
    "case, card, remedy, words",
    [("held_over", "1400MiB", "held_over", "advice.py:25 Layer.forward"),
     ("evaluation", "4500MiB", "no_grad", "torch.no_grad() around advice.py:156")],
)  # fmt: skip
def test_what_needs_a_change_of_code_is_named_with_its_gain_and_not_called_tried(torch_build, tmp_path, case, card, remedy, words):
    answer = fix(torch_build, tmp_path, SCRIPTS / "advice.py", case, options=[f"--limit={card}"], status=1)
    (row,) = [row for row in answer["not_tried"] if row["remedy"] == remedy]
    assert words in row["advice"] and row["gain_bytes"] > 0
    assert answer["remedies"] == [] and "no remedy was found" in answer["answer"][0]


def test_weights_that_are_more_than_the_card_have_no_remedy(torch_build, tmp_path):
    answer = fix(torch_build, tmp_path, SCRIPTS / "fixable.py", "hopeless", "--batch-size=2",
                 options=["--limit=1GiB", "--vary=batch-size"], status=1)  # fmt: skip
    assert answer["remedies"] == [] and len(answer["runs"]) > 1
    assert all(run["end"] == "no_memory" for run in answer["runs"])


def test_idle_memory_that_no_setting_joins_is_said_to_be_no_help_though_it_is_fragmented(torch_build, tmp_path):
    answer = fix(torch_build, tmp_path, SCRIPTS / "fixable.py", "pinned", "--batch-size=2", options=["--limit=1GiB"], status=1)
    settings = [run for run in answer["runs"] if "=" in run["change"]]
    assert {run["end"] for run in settings} <= {"no_memory"} and len(settings) + len(answer["ruled_out"]) > 1
    assert "--vary=batch-size tries smaller values." in sentences_of(answer) and "Fragmented: " in texts_of(answer, "why")
    assert texts_of(answer, "do").startswith(f"No setting of the allocator helps: {len(settings)} tried in a run, {len(answer['ruled_out'])} by its model. "
                                      "The program has to need less.")  # fmt: skip


def test_a_script_with_room_is_run_once(torch_build, tmp_path):
    answer = fix(torch_build, tmp_path, SCRIPTS / "fixable.py", "batch", "--batch-size=4", options=["--vary=batch-size"])
    assert answer["answer"][0].startswith("Fits: peak ") and len(answer["runs"]) == 1
