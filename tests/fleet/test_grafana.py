# SPDX-License-Identifier: MIT
"""The dashboard of samples/fleet. Each query runs with values from the database for the dashboard's variables."""
import json

from fleet.job import push_all, run_job
from support.run import ROOT, run_command

DASHBOARD = json.loads((ROOT / "samples/fleet/grafana.json").read_text())


def filled(query, values):
    for name, value in values.items():
        query = query.replace("${" + name + "}", value)
    return query


def test_every_query_of_the_dashboard_runs_and_answers(database, tmp_path):
    assert run_command("push", "--create", f"--to={database.url}").returncode == 0
    push_all(database.url, run_job(tmp_path, 4))
    values = {}
    for variable in DASHBOARD["templating"]["list"][1:]:
        ((values[variable["name"]],),) = database.rows(filled(variable["query"], values))
    assert values == {"job": "pretrain", "run": "77"}
    answers = {}
    for panel in DASHBOARD["panels"]:
        for target in panel["targets"]:
            answers[panel["title"]] = database.rows(filled(target["rawSql"], values))
    assert [title for title, rows in answers.items() if not rows] == ["Failed allocations, the earliest first"]
    assert answers["Peaks"] == [("10485760", "12582912", "15466496")] and len(answers["Peak of each rank"]) == 4
