# SPDX-License-Identifier: MIT
"""The files that installed pages name: links of the manual and of the wheel's description, pages that the man page lists, and
the file that Debian's changelog refers to."""
import gzip
import pathlib
import re

# The pattern of the name of a page, that of the files and folders that it names, and the folder in which these lie, from
# the page's own. METADATA, the description of the wheel, names the folder of the manual, and pages in it.
KINDS = (
    (r".*\.md|METADATA", r"\]\((?!https?:)([^)#]+)", "."),
    (r"METADATA", r"(?<= )gpumemtrace/share/[\w/]+", ".."),
    (r"METADATA", r"(?<= )\w+\.md", "../gpumemtrace/share/doc/gpumemtrace"),
    (r"gpumemtrace\.1(?:\.gz)?", r"(?<=[\s(])([\w-]+\.md)", "../../doc/gpumemtrace"),
    (r"changelog\.gz", r"([A-Z]+(?:\.gz)?) lists", "."),
)


def links(folder):
    """Yields (page, place of the file that it names) for all pages in the folder."""
    for page in sorted(pathlib.Path(folder).rglob("*")):
        for kind, pattern, where in KINDS:
            if re.fullmatch(kind, page.name) and page.is_file():
                data = page.read_bytes()
                text = (gzip.decompress(data) if page.suffix == ".gz" else data).decode()
                yield from ((page, page.parent / where / link) for link in re.findall(pattern, text))


def lost_links(folder):
    """Returns the links that lead to no file, and to no folder."""
    return [f"{page.relative_to(folder)}: {place}" for page, place in links(folder) if not place.exists()]
