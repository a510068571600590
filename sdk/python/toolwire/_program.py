"""Which program this is, for the server and for the people who look at the list of its hosts."""

from __future__ import annotations

import hashlib
import os
import pwd
import re
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path

from toolwire._binary import is_command
from toolwire._functions import place_of
from toolwire._text import cut
from toolwire._tool import Tool

# Of the text, in bytes.
MOST_BYTES = 1024
# Of a file in the name of a process, which has at most 64 characters.
MOST_OF_NAME = 32


def instance_of(tools: Mapping[str, Tool]) -> str:
    """A name that no other process has, such as `tools.py-4711-5f0c9a3b1e7d2468`: file, process and a random part.

    The name of the file alone: whoever may call a tool of it sees this.
    """
    name = re.sub(r"[^!-~]", "_", Path(_file(tools)).name)[:MOST_OF_NAME]
    return f"{name}-{os.getpid()}-{secrets.token_hex(8)}"


def program_of(tools: Mapping[str, Tool]) -> str:
    """Its file and whose it is: the same in its copies and after a restart.

    For a server that asks for no tokens: one program holds the name of a provider there.
    """
    text = f"{_file(tools)} of {_user()}"
    shown = "".join(it if it.isprintable() else "?" for it in cut(text, MOST_BYTES))
    if shown == text:
        return text
    # What was cut or replaced may be what distinguishes two.
    digest = hashlib.sha256(os.fsencode(text)).hexdigest()
    return f"{cut(shown, MOST_BYTES - len(digest) - 1)} {digest}"


def _file(tools: Mapping[str, Tool]) -> str:
    main = sys.modules.get("__main__")
    if own := getattr(main, "__file__", None):
        # That of a command, such as uvicorn's, is no program by itself.
        places = (place_of(tools[name].function)[1] for name in sorted(tools))
        launched = next((it for it in places if Path(it).is_file()), own)
        return str(Path(launched if is_command(own) else own).resolve())
    # Cells of a notebook have no file: their editors name it.
    notebook = getattr(main, "__vsc_ipynb_file__", None) or os.environ.get("JPY_SESSION_NAME")
    return str(Path(notebook).resolve()) if notebook else f"a session in {Path.cwd()}"


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
