# SPDX-License-Identifier: MIT
"""The files that installed pages name: links of the manual and of the wheel's description, pages that the man page lists, and
the file that Debian's changelog refers to."""
import gzip
import pathlib
import re

# The pattern of the name of a page, and that of the files that it names.
KINDS = {
    r".*\.md|METADATA": r"\]\((?!https?:)([^)#]+)",
    r"gpumemtrace\.1(?:\.gz)?": r"(?<=[\s(])([\w-]+\.md)",
    r"changelog\.gz": r"([A-Z]+(?:\.gz)?) lists",
}


def links(folder):
    """Yields (page, place of the file that it names) for all pages in the folder."""
    for page in sorted(pathlib.Path(folder).rglob("*")):
        for kind, pattern in KINDS.items():
            if re.fullmatch(kind, page.name) and page.is_file():
                data = page.read_bytes()
                text = (gzip.decompress(data) if page.suffix == ".gz" else data).decode()
                # The man page names pages of the manual, which lie in share/doc.
                place = page.parent.parent.parent / "doc/gpumemtrace" if page.name.startswith("gpumemtrace.1") else page.parent
                yield from ((page, place / link) for link in re.findall(pattern, text))


def lost_links(folder):
    """Returns the links that lead to no file, and to no folder."""
    return [f"{page.relative_to(folder)}: {place}" for page, place in links(folder) if not place.exists()]
