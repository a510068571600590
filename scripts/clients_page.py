"""Puts the files of examples/clients/ into docs/CLIENTS.md; with --check, only tells whether they are there as they are.

In the page, a line `<!-- examples/clients/… -->` stands before the code block that shows the file. Every program, script
and expected output must be shown; projects' settings and lock files need not be.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "CLIENTS.md"
EXAMPLES = "examples/clients"
SHOWN = {".py", ".ts", ".go", ".java", ".sh", ".txt"}
BLOCK = re.compile(r"<!-- (examples/clients/\S+) -->\n```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def filled(page):
    """The page with each block as its file is."""

    def block(match):
        name, language, _ = match.groups()
        return f"<!-- {name} -->\n```{language}\n{(ROOT / name).read_text()}```"

    return BLOCK.sub(block, page)


def missing(page):
    """The files that the page does not show."""
    listed = subprocess.run(["git", "ls-files", EXAMPLES], cwd=ROOT, capture_output=True, text=True, check=True)
    shown = {match[1] for match in BLOCK.finditer(page)}
    return [name for name in listed.stdout.split() if pathlib.Path(name).suffix in SHOWN and name not in shown]


def main():
    page = PAGE.read_text()
    wanted = filled(page)
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(wanted)
    elif page != wanted:
        sys.exit("docs/CLIENTS.md does not show the files of examples/clients: run scripts/clients_page.py")
    if absent := missing(wanted):
        sys.exit(f"docs/CLIENTS.md lacks a code block for {', '.join(absent)}")
    print(f"docs/CLIENTS.md shows {len(BLOCK.findall(page))} files as they are")


if __name__ == "__main__":
    main()
