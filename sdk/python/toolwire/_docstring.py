"""What a docstring says of a function and of its parameters, in the form of Google, NumPy, reST or none.

`docstring-parser` finds the entries of parameters; what is not one of them stays where it stands.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection

from docstring_parser import ParseError, epydoc, google, numpydoc, rest

TITLES = [
    *("Args", "Arguments", "Params", "Parameters"),
    *("Keyword Args", "Keyword Arguments", "Other Args", "Other Arguments", "Other Params", "Other Parameters"),
]
# Other sections of Google's form would only make it fail.
GOOGLE = google.GoogleParser([google.Section(it, "param", google.SectionType.MULTIPLE) for it in TITLES])
EMPTY_SECTION = re.compile(
    rf"^({'|'.join(TITLES)})(:[ \t]*\n(?:[ \t]*\n)*(?=\S|\Z)|[ \t]*\n-{{3,}}[ \t]*\n\s*(?=\Z|.+\n-{{3,}}))",
    re.MULTILINE,
)
# A line that does not go on with a sentence, but is of a list, a table, a heading or an example.
APART = re.compile(r"\s|[-*+>|=~:#`.]|[0-9]+[.)]")


def read_docstring(doc: str, names: Collection[str]) -> tuple[str, dict[str, str]]:
    """The words of the function, and those of the parameters of these names. Each word is in one of them."""
    lines, words = doc.splitlines(), dict[str, str]()
    for entry in _entries(doc):
        # NumPy describes several of one type at once.
        several = [it.strip("* ") for it in entry[0].split(",")]
        if set(several) <= set(names) and not words.keys() & set(several):
            words |= dict.fromkeys(several, taken) if (taken := _take(lines, *entry)) else {}
    return _flow(EMPTY_SECTION.sub("", "\n".join(lines) + "\n")), words


def _entries(doc: str) -> list[tuple[str, str]]:
    """The names and words of parameters, in the form that has most of them."""
    found: list[list[tuple[str, str]]] = [[]]
    for parse in (GOOGLE.parse, numpydoc.parse, rest.parse, epydoc.parse):
        with contextlib.suppress(ParseError):
            found.append([(it.arg_name, it.description or "") for it in parse(doc).params])
    return max(found, key=len)


def _take(lines: list[str], name: str, description: str) -> str:
    """Takes the lines of an entry away: its name, and its words on that line or below."""
    first, *others = [it.strip() for it in description.splitlines() if it.strip()] or [""]
    key = re.compile(rf"(\s*)([:@]\w+\s[^:]*?)?\**{re.escape(name.lstrip('*'))}(?![\w.])")
    for at, line in enumerate(lines if first else []):
        begin = at + (lines[at + 1 : at + 2] != [] and lines[at + 1].strip() == first)
        if not (head := key.match(line)) or (begin == at and not line[head.end() :].endswith(first)):
            continue
        end = begin + 1
        for below in range(end, len(lines)):
            # What stands as far left after an empty line is of the function again.
            if not others or _is_apart(lines, below, len(head[1])):
                break
            if lines[below].strip() == others[0]:
                end, _ = below + 1, others.pop(0)
        words = _flow("\n".join([first, *(it.strip() for it in lines[begin + 1 : end])]))
        lines[at:end] = []
        lines[:] = [it for it in lines if not re.match(rf"[:@]type {re.escape(name)}:", it)]
        return words
    return ""


def _is_apart(lines: list[str], at: int, indent: int) -> bool:
    line = lines[at]
    return bool(line.strip()) and len(line) - len(line.lstrip()) <= indent and not lines[at - 1].strip()


def _flow(text: str) -> str:
    """A paragraph of sentences as one line; of a list or an example each line as it is."""
    paragraphs = [it for it in re.split(r"\n\s*\n", text.strip("\n")) if it.strip()]
    return "\n\n".join(it if any(map(APART.match, it.splitlines())) else " ".join(it.split()) for it in paragraphs)
