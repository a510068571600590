"""Does what a page says, in order, as a reader would: `page.py docs/OWN_TOOLS.md WHEEL FOLDER`, of an empty folder.

A comment before a block of the page says what it is: `terminal 1` are commands, `file NAME` is what a file holds,
`answer` is typed at a question, and `prints` is what a reader then sees, where … stands for anything. The last command
before `exit 3` ends so. The last one of `begins 1` goes on beside the terminals that follow, until `ends 1`, a block of
what it has then printed; `prints` waits for it. Of what differs from run to run the page has an example, and what was printed last replaces it.
"""

import os
import pty
import re
import select
import signal
import socket
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BLOCK = re.compile(r"^<!-- (terminal|begins|ends|file|prints|answer|exit) ?(\S*) -->\n```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PROMPT = "ready> "
SERVES = re.compile(r"^(toolwire serves .* at|toolwire listening on) \S+$", re.MULTILINE)
QUESTION = re.compile(r"\[y/N\] $")
LIMIT = 120.0
# What the page has one of → where such a value is printed.
CHANGING = {
    r"http://127\.0\.0\.1:41236": r"  mcp    (http://127\.0\.0\.1:\d+)",
    r"http://127\.0\.0\.1:41235": r"serves .* at (http://127\.0\.0\.1:\d+)",
    r"/home/you/[\w./-]+/toolwire": r'(?:"command": "|-- )(/[^"\s]+/toolwire)',
    r"conf_7c0f…": r"(conf_[0-9a-f]{32})",
    r"0196f1c2-…": r"request_id\W+([0-9a-f-]{36})",
}


class Terminal:
    """A shell, as a person has it before them."""

    def __init__(self, folder):
        self.shown, self._begun, self._serves = "", None, False
        self._pid, self._file = pty.fork()
        if not self._pid:
            os.chdir(folder)
            # Neither colours nor lines that are cut.
            environment = {**os.environ, "PS1": PROMPT, "TERM": "dumb", "PROMPT_COMMAND": "stty -echo cols 1000"}
            os.execvpe("bash", ["bash", "--noprofile", "--norc", "-i"], environment)
        self._until(PROMPT)

    def type(self, line, begins=False):
        """Types a command, and waits until it has ended, asks, or serves; not at all if it only begins."""
        if self._serves:
            self._send("\x03")
            self._until(PROMPT)
        self._serves = bool(re.search(r"\bpython tools\.py|^toolwire serve\b", line))
        self._send(f"{line}\n" if self._serves else f"{line}; echo status=$?\n")
        if begins:
            self._begun = len(self.shown)
            return
        self._until(SERVES.pattern if self._serves else f"{PROMPT}$|{QUESTION.pattern}")
        while self._serves and select.select([self._file], [], [], 0.5)[0]:
            self._read()

    def see(self, pattern):
        """Waits until what only began prints it."""
        if self._begun is not None:
            self._until(pattern, self._begun)

    def end(self):
        self.see(f"{PROMPT}$")
        self._begun = None

    def answer(self, text):
        # What was typed before the question does not count.
        time.sleep(0.5)
        self._send(f"{text}\n")
        self._until(f"{PROMPT}$")

    @property
    def last_status(self):
        """Of the last command; None if it goes on."""
        found = re.findall(r"^status=(\d+)$", self.shown, re.MULTILINE)
        return None if self._serves or QUESTION.search(self.shown) or not found else int(found[-1])

    def close(self):
        os.kill(self._pid, signal.SIGHUP)
        os.close(self._file)

    def _send(self, text):
        os.write(self._file, text.encode())

    def _until(self, pattern, begin=None):
        end, begin = time.monotonic() + LIMIT, len(self.shown) if begin is None else begin
        while not re.search(pattern, self.shown[begin:], re.MULTILINE):
            if not select.select([self._file], [], [], max(0.0, end - time.monotonic()))[0]:
                sys.exit(f"{pattern} does not come:\n{self.shown}")
            self._read()

    def _read(self):
        self.shown += os.read(self._file, 65536).decode(errors="replace").replace("\r", "")


def blocks(page):
    """What the page says, with what is to be done about how each block ends."""
    found = BLOCK.findall(page)
    ends = [after[1] if after[0] == "exit" else "0" for after in found[1:]] + ["0"]
    return [(*block, int(end)) for block, end in zip(found, ends, strict=True)]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


def main(page, wheel, folder):
    ports = {usual: free_port() for usual in ("50051", "50080")}
    terminals, now, printed, commands = {}, None, "", 0
    for kind, name, block, end in blocks((ROOT / page).read_text()):
        # Ports that are free here, and the wheel that was written for this run.
        for usual, port in ports.items():
            block = block.replace(usual, port)
        block = block.replace("~/toolwire/dist/toolwire-*.whl", str(wheel))
        for shown, place in CHANGING.items():
            if found := re.findall(place, printed):
                block = re.sub(shown, found[-1], block)
        if kind == "file":
            (folder / "shop" / name).write_text(block)
        elif kind in ("terminal", "begins"):
            now = terminals[name] = terminals.get(name) or Terminal(folder)
            now.shown = ""
            lines = block.splitlines()
            for line in lines:
                if kind == "begins" and line == lines[-1]:
                    now.type(line, begins=True)
                    continue
                now.type(line)
                if now.last_status not in (None, end if line == lines[-1] else 0):
                    sys.exit(f"$ {line}\n{now.shown}")
            commands += len(lines)
        elif kind == "answer":
            now.answer(block.strip())
            if now.last_status:
                sys.exit(now.shown)
        else:
            if kind == "ends":
                now = terminals[name]
                now.end()
            for line in block.splitlines():
                now.see(pattern(line))
            missing = [line for line in block.splitlines() if not re.search(pattern(line), now.shown)]
            if missing:
                sys.exit(f"not printed: {missing}\n{now.shown}")
        printed += now.shown if now else ""
    for terminal in terminals.values():
        terminal.close()
    for example in (ROOT / "examples/hosts/python").glob("*.py"):
        shown = folder / "shop" / example.name
        if shown.exists() and shown.read_text() != example.read_text():
            sys.exit(f"the page shows {example.name} as it is not in examples/hosts/python")
    print(f"{commands} commands of {page} work")


def pattern(line):
    return ".*".join(map(re.escape, line.strip().split("…")))


if __name__ == "__main__":
    main(sys.argv[1], *(Path(path).resolve() for path in sys.argv[2:]))
