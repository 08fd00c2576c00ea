# SPDX-License-Identifier: MIT
"""The HTML page of `fleet` in a browser. It shows the ranks as small charts with the same scale."""
from fleet.job import push_all, run_job
from support.run import run_command
from web.browser import browser  # noqa: F401

# Returns the last column of a chart that is not empty, in CSS pixels.
WIDTH = """
const canvas = page.fleet.items[arguments[0]].firstChild, context = canvas.getContext('2d');
const row = context.getImageData(0, 5, canvas.width, 1).data;
let last = 0;
for (let x = 0; x < canvas.width; x++) if (row[4 * x + 3]) last = x + 1;
return last;
"""


def test_ranks_are_small_multiples_to_one_scale(browser, database, tmp_path):  # noqa: F811
    assert run_command("push", "--create", f"--to={database.url}").returncode == 0
    push_all(database.url, run_job(tmp_path, 4))
    path = tmp_path / "fleet.html"
    completed = run_command("fleet", f"--from={database.url}", "--format=html", "-o", path)
    assert completed.returncode == 0, completed.stderr
    browser.open(path)
    assert not browser.complaints()
    words = browser.run("return page.fleet.items.map((one) => one.innerText)")
    assert [text.split("\n")[0] for text in words] == [f"rank {number}" for number in range(4)] and "14.75 MiB" in words[1]
    widths = [browser.run(WIDTH, number) for number in range(4)]
    assert widths[1] == 150 and abs(widths[0] - 150 * 10 / 14.75) <= 1 and abs(widths[2] - 150 * 12 / 14.75) <= 1
    assert "Rank 1 peaks at 14.75 MiB" in browser.text("body") and "Who stands out" in browser.text("body")
