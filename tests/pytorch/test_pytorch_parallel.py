# SPDX-License-Identifier: MIT
"""If one process uses several devices, `report` names the device that holds more memory than the other devices, and the
line that holds this memory."""
import pytest

from support.run import ROOT, load_json, sentences_of

SCRIPT = ROOT / "tests/job/data_parallel.py"


@pytest.fixture(params=[2, 4])
def report(request, dry_run):
    return load_json("report", dry_run(SCRIPT, spec=f"{request.param}x16GiB").trace)


def test_the_first_device_of_data_parallel_stands_out_with_the_line_that_holds_more(report):
    peaks = {}
    for device in report["devices"]:
        (pool,) = device["pools"]
        peaks[device["device"]] = pool["peak_live_bytes"]
    balance = report["balance"]
    assert balance["device"] == 0 and balance["peak_bytes"] == peaks[0]
    assert balance["imbalance_ratio"] == pytest.approx(peaks[0] * len(peaks) / sum(peaks.values()), rel=1e-3)
    assert balance["median_of_others_bytes"] == sorted(list(peaks.values())[1:])[(len(peaks) - 2) // 2] < peaks[0]
    assert (balance["file"], balance["line"]) == ("data_parallel.py", 24)  # the loss of all outputs
    assert 0 < balance["more_bytes"] <= peaks[0] - balance["median_of_others_bytes"] + peaks[0] // 2
    assert any(sentence.startswith("The devices are not balanced: device 0 peaks ") for sentence in sentences_of(report))
