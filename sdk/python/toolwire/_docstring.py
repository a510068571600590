"""What a docstring says of a function and of its parameters, as Google writes them."""

from __future__ import annotations

import re

SECTION = re.compile(r"^(Args|Arguments|Parameters|Returns?|Raises|Yields|Examples?|Notes?):\s*$", re.MULTILINE)
ENTRY = re.compile(r"^(\s+)\*{0,2}(\w+)(?:\s*\([^)]*\))?:\s*(.*)$")


def read_docstring(doc: str) -> tuple[str, dict[str, str]]:
    """The words of the function, and those of each parameter."""
    head, *sections = SECTION.split(doc)
    parameters: dict[str, str] = {}
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        if title in ("Args", "Arguments", "Parameters"):
            parameters |= _entries(body)
    return "\n\n".join(" ".join(it.split()) for it in re.split(r"\n\s*\n", head.strip())), parameters


def _entries(body: str) -> dict[str, str]:
    found: dict[str, str] = {}
    name, depth = "", 0
    for line in filter(str.strip, body.splitlines()):
        entry = ENTRY.match(line)
        if entry and (not name or len(entry[1]) <= depth):
            name, depth = entry[2], len(entry[1])
            found[name] = entry[3]
        elif name:
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found
