# SPDX-License-Identifier: MIT
"""Runs a test for all cells of a table, as one test. Its failure names each wrong cell.

    @each("command, count", product(COMMANDS, [1, 2]))
    def test_json_is_well_formed(traces, command, count):

The form is that of pytest.mark.parametrize. Use it for cells that rarely fail alone."""
import functools
import inspect


def each(names, cells):
    names = [name.strip() for name in names.split(",")]
    cells = [cell if len(names) > 1 else (cell,) for cell in cells]
    assert cells, "a table without cells"

    def decorate(test):
        @functools.wraps(test)
        def test_all(**fixtures):
            wrong = []
            for cell in cells:
                try:
                    test(**fixtures, **dict(zip(names, cell)))
                except Exception as error:  # pylint: disable=broad-except
                    wrong.append(f"{', '.join(map(str, cell))}: {error}")
            assert not wrong, f"{len(wrong)} of {len(cells)} are wrong:\n" + "\n".join(wrong)

        # Shows pytest only those parameters that are fixtures.
        parameters = inspect.signature(test).parameters.values()
        test_all.__signature__ = inspect.Signature([known for known in parameters if known.name not in names])
        return test_all

    return decorate
