# SPDX-License-Identifier: MIT
"""Compares what several commands say of one fact: whether memory was fragmented, whether it leaks, and the sum of a card."""
from support.run import load_json, sentences_of

IDLE_VERDICTS = ("fragmented", "cached")


def of_fragmentation(pages):
    """Yields where `oom` or `report` blames idle memory, and `frag` calls it no concern."""
    calm = " ".join(sentences_of(pages["frag"])).count("no concern")
    leading = {device["device"]: device["leading_pool"] for device in pages["oom"]["devices"]}
    for failure in pages["oom"]["oom"]:
        is_of_leading = failure["layer"] != "pool" or failure["pool"] == leading[failure["device"]]
        if failure["verdict"] in IDLE_VERDICTS and is_of_leading and calm == len(leading):
            yield f"oom finds failure {failure['number']} {failure['verdict']}, frag finds no concern"
    if any(text.startswith("Reserved ") for text in sentences_of(pages["report"])) and calm == len(leading):
        yield "report opens with idle memory, frag finds no concern"


def of_leaks(pages):
    in_leaks, in_report = (any(text.startswith("Leak:") for text in sentences_of(pages[name])) for name in ("leaks", "report"))
    verdicts = [row["verdict"] for device in pages["leaks"]["devices"] for row in device["leaks"]["growth"]]
    if in_report and not in_leaks:
        yield "report says that memory leaks, leaks does not"
    if in_leaks and not in_report and not pages["oom"]["oom"]:
        yield "leaks says that memory leaks, report says nothing of it and nothing failed"
    if in_leaks != ("leak" in verdicts):
        yield f"the answer of leaks differs from its verdicts {verdicts}"


def of_cards(pages):
    for device in pages["ledger"]["devices"]:
        for moment in device["moments"]:
            parts, total = [term["bytes"] for term in moment["terms"]], moment["total_bytes"]
            if min(parts, default=0) < 0 or (moment["unaccounted_bytes"] or 0) < 0:
                yield f"ledger has a negative part at {moment['at']}"
            if total and moment["used_source"] == "card" and max(sum(parts), moment["used_bytes"] or 0) > total:
                yield f"ledger exceeds the card at {moment['at']}: {sum(parts)} of {total}"


def disagreements(trace):
    pages = {name: load_json(name, trace) for name in ("oom", "frag", "report", "leaks", "ledger")}
    return [text for of in (of_fragmentation, of_leaks, of_cards) for text in of(pages)]
