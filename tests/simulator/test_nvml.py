# SPDX-License-Identifier: MIT
"""NVML reports the simulated cards as the driver does. It does so to the program itself and to other processes on the
same cards."""
import json
import re
import subprocess
import sys

import pytest

from support.run import ROOT, TIMEOUT_S

ASKER = ROOT / "tests" / "simulator" / "nvml_asker.py"
MIB, GIB = 1 << 20, 1 << 30
CONTEXT = 300 * MIB
H100_CONTEXT = 630 * MIB  # measured on a card: common/sim_presets.def
H100 = 81008 * MIB

# Functions that gpustat 1.1.1, nvitop 1.7.2 and nvtop 3.0.1 call for a card. Functions that the tests below call with
# valid arguments are left out.
ASKED = """nvmlDeviceGetBAR1MemoryInfo nvmlDeviceGetClockInfo nvmlDeviceGetComputeMode nvmlDeviceGetCurrPcieLinkGeneration
nvmlDeviceGetCurrPcieLinkWidth nvmlDeviceGetCurrentDriverModel nvmlDeviceGetDecoderUtilization nvmlDeviceGetDisplayActive
nvmlDeviceGetDisplayMode nvmlDeviceGetEncoderUtilization nvmlDeviceGetEnforcedPowerLimit nvmlDeviceGetFanSpeed
nvmlDeviceGetFieldValues nvmlDeviceGetGraphicsRunningProcesses nvmlDeviceGetGraphicsRunningProcesses_v3
nvmlDeviceGetMPSComputeRunningProcesses_v3 nvmlDeviceGetMaxClockInfo nvmlDeviceGetMaxMigDeviceCount
nvmlDeviceGetMaxPcieLinkGeneration nvmlDeviceGetMaxPcieLinkWidth nvmlDeviceGetPcieThroughput nvmlDeviceGetPerformanceState
nvmlDeviceGetPersistenceMode nvmlDeviceGetPowerManagementLimit nvmlDeviceGetPowerUsage nvmlDeviceGetProcessUtilization
nvmlDeviceGetRunningProcessDetailList nvmlDeviceGetSerial nvmlDeviceGetTemperature nvmlDeviceGetTemperatureThreshold
nvmlDeviceGetTemperatureV nvmlDeviceGetTotalEccErrors nvmlDeviceGetUtilizationRates nvmlDeviceIsMigDeviceHandle""".split()


@pytest.fixture
def ask(sim_env):
    def run(*words, spec="16GiB", **settings):
        completed = subprocess.run(
            [sys.executable, ASKER, *map(str, words)], env=sim_env(spec, **settings), timeout=TIMEOUT_S,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return [json.loads(line) for line in completed.stdout.splitlines()]

    return run


@pytest.fixture
def neighbour(sim_env):
    """Returns a function: neighbour(word, …) starts a process that runs these queries of nvml_asker.py and lives until
    the test ends. It returns the id of the process."""
    running = []

    def start(*words, spec="16GiB", **settings):
        child = subprocess.Popen(
            [sys.executable, ASKER, *map(str, words), "wait"], env=sim_env(spec, **settings), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        running.append(child)
        assert child.stdout.readline() == '"ready"\n'
        return child.pid

    yield start
    for child in running:
        child.communicate("\n", timeout=TIMEOUT_S)


# --- memory ---


def test_nvml_and_the_driver_say_the_same_of_memory_and_the_context_is_part_of_it(ask):
    card, cuda = ask("init", "alloc", 1000, "card", 0, "cuda", spec="h100,others=3GiB")
    assert card["memory"] == cuda["memory"] == [H100, H100 - 3 * GIB - H100_CONTEXT - 1000 * MIB, 3 * GIB + H100_CONTEXT + 1000 * MIB]
    assert card["memory_v2"] == [card["memory"][0], 0, *card["memory"][1:]]


def test_without_cuda_nvml_shows_what_others_hold(ask):
    (card,) = ask("card", 0, spec="t4,others=3GiB")
    assert card["memory"] == [15102 * MIB, 15102 * MIB - 3 * GIB, 3 * GIB]
    assert card["processes"] == [[[1, 3 * GIB]]] * 3


def test_nvml_shows_all_cards_whatever_cuda_visible_devices_says(ask):
    first, second, cuda = ask("init", "card", 0, "card", 1, "cuda", spec="2x16GiB", CUDA_VISIBLE_DEVICES="1")
    assert (first["memory"][2], second["memory"][2]) == (0, CONTEXT)
    assert second["uuid"].replace("-", "") == "GPU" + cuda["uuid"]


def test_a_struct_of_another_version_is_refused(ask):
    (card,) = ask("card", 0)
    assert card["wrong_version"] == 25


# --- processes ---


def test_processes_are_listed_in_all_three_layouts(neighbour, ask, tmp_path):
    shared = {"GPUMEMTRACE_SIM_SHARED": tmp_path / "cards"}
    pid = neighbour("init", "alloc", 500, **shared)
    (card,) = ask("card", 0, **shared)
    assert card["processes"] == [[[pid, 500 * MIB + CONTEXT]]] * 3
    assert card["memory"][2] == 500 * MIB + CONTEXT


def test_two_processes_on_one_card_are_summed_by_a_third_that_has_no_cuda(neighbour, ask, tmp_path):
    shared = {"GPUMEMTRACE_SIM_SHARED": tmp_path / "cards"}
    pids = [neighbour("init", "alloc", size, **shared) for size in (500, 700)]
    (card,) = ask("card", 0, **shared)
    assert card["memory"][2] == 1200 * MIB + 2 * CONTEXT
    assert [pid for pid, _ in card["processes"][0]] == sorted(pids)


def test_a_process_that_looks_first_and_calls_cuda_later_is_counted_once(neighbour, ask, tmp_path):
    shared = {"GPUMEMTRACE_SIM_SHARED": tmp_path / "cards"}
    neighbour("init", "alloc", 500, **shared)
    before, after, cuda = ask("card", 0, "init", "card", 0, "cuda", **shared)
    assert before["memory"][2] == 500 * MIB + CONTEXT
    assert after["memory"] == cuda["memory"]
    assert after["memory"][2] == 500 * MIB + 2 * CONTEXT


def test_without_a_shared_file_each_process_has_the_cards_to_itself(neighbour, ask):
    neighbour("init", "alloc", 500)
    (card,) = ask("card", 0)
    assert (card["memory"][2], card["processes"]) == (0, [[], [], []])


# --- what a card is ---


def test_a_card_has_its_name_capability_bus_and_uuid(ask):
    first, second, system = ask("card", 0, "card", 1, "system", spec="2xh100")
    assert (first["name"], first["capability"], first["index"]) == ("Simulated NVIDIA H100 80GB HBM3", [9, 0], [0])
    assert second["index"] == [1] and first["uuid"] != second["uuid"]
    assert second["pci"] == [["0000:02:00.0", ""], ["0000:02:00.0", ""], ["0000:02:00.0", "00000000:02:00.0"]]
    assert re.fullmatch("GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", first["uuid"]), first["uuid"]
    assert first["found_by_uuid"] and first["unknown_uuid"] == 6
    assert system["count"] == 2 and system["cuda"] == 13000
    assert system["driver"].count(".") == 2


def test_mig_is_off_where_a_card_can_be_divided_and_unknown_elsewhere(ask):
    assert ask("card", 0, spec="a100-80")[0]["mig"] == [0, 0]
    assert ask("card", 0, spec="rtx-4090")[0]["mig"] == 3


def test_what_tools_ask_is_answered_or_refused_by_name(ask):
    (answers,) = ask("names", *ASKED)
    assert set(map(tuple, answers.values())) == {(0, "Success"), (3, "Not Supported")}
    assert answers["nvmlDeviceGetUtilizationRates"][0] == 0
    for sensor in ("PowerUsage", "Temperature", "ClockInfo", "FanSpeed"):
        # The answer is "not supported", because the simulator has no sensors.
        assert answers["nvmlDeviceGet" + sensor][0] == 3
