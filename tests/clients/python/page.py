"""Does what a page says, in order, as a reader would: `page.py docs/OWN_TOOLS.md WHEEL FOLDER`, of an empty folder.

A comment before a block of the page says what it is: `terminal 1` are commands, `file NAME` is what a file holds,
`answer` is typed at a question, and `prints` is what a reader then sees, where … stands for anything. The last command
before `exit 3` ends so. The last one of `begins 1` goes on beside the terminals that follow, until `ends 1`, a block of
what it has then printed; `prints` waits for it. `session 1` has commands behind `$ `, each before what it prints: a
command that prints `error:` fails unless it is piped, and what stands behind a prompt is typed there. `shows FILE` has
lines of a file of this repository, in their order.

Of what differs from run to run the page has an example, which stands for what was printed last. The wheel's program
stands for `cargo run --`, with `--release` or without.
"""

import codecs
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
KINDS = "terminal|session|begins|ends|file|shows|prints|answer|exit"
BLOCK = re.compile(rf"^<!-- ({KINDS}) ?(\S*) -->\n```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PROMPT = "ready> "
SERVES = re.compile(r"^(toolwire serves .* at|toolwire listening on) \S+$", re.MULTILINE)
QUESTION = re.compile(r"(\[y/N\] |^> |^Type the tool's name.*: )\Z", re.MULTILINE)
TYPED = re.compile(r"(> |Type the tool's name.*: )(.*)")
# Pages of which each block without a language, and each of shell, says what it is.
WHOLE = (
    *("README.md", "docs/TUTORIAL.md", "docs/OPERATIONS.md", "docs/REPLICAS.md"),
    *("docs/CONVERSATIONS.md", "docs/EXPORTS.md", "docs/JOBS.md", "docs/AUDIT.md", "docs/CONFIRMATIONS.md"),
    *("docs/TASKS.md", "docs/WORKSPACE.md", "docs/MANIFEST.md", "docs/MCP_UPSTREAM.md", "docs/DEPLOYMENT.md"),
)
# Commands that the gate runs in steps of their own: the build, the tests, the wheel, which is on the path here.
ELSEWHERE = re.compile(r"cargo (build|test)|pip install -r|scripts/package/wheel|export PATH=")
LIMIT = 120.0
# What the page has one of → where such a value is printed.
CHANGING = {
    r"http://127\.0\.0\.1:41236": r"  mcp    (http://127\.0\.0\.1:\d+)",
    r"http://127\.0\.0\.1:41235": r"serves .* at (http://127\.0\.0\.1:\d+)",
    r"/home/you/[\w./-]+/toolwire": r'(?:"command": "|-- )(/[^"\s]+/toolwire)',
    r"conf_7c0f…": r"(conf_[0-9a-f]{32})",
    r"0196f1c2-…": r"request_id\W+([0-9a-f-]{36})",
    r"task_0b6c…": r"(?m)^(task_[0-9a-f]{32})$",
    r"8a4a1382-…": r"chat --resume ([0-9a-f-]{36})",
    r"01a21f5a-…": r"accepted \S+, call ([0-9a-f-]{36})",
    r"a3ed776c-…": r"(?m)^([0-9a-f-]{36})  discovery",
    r"5f0c…": r"--digest ([0-9a-f]{64})",
    r"task_91fe…": r"waits for (task_[0-9a-f]{32})",
}
# What a session has one of and a reader sees another of: those, identifiers that are cut, times.
VARIES = re.compile("|".join([*CHANGING, r"\b[0-9a-f]{8}-[0-9a-f-]*…", r"\d{4}-\d\d-\d\dT[\d:.]+Z"]))


class Terminal:
    """A shell, as a person has it before them."""

    def __init__(self, folder):
        self.shown, self._begun, self._serves = "", None, False
        # A read can end within a character.
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._pid, self._file = pty.fork()
        if not self._pid:
            os.chdir(folder)
            # Neither colours nor lines that are cut.
            environment = {**os.environ, "PS1": PROMPT, "TERM": "dumb", "PROMPT_COMMAND": "stty -echo cols 1000"}
            environment["XDG_DATA_HOME"] = str(folder / "data")
            os.execvpe("bash", ["bash", "--noprofile", "--norc", "-i"], environment)
        self._until(PROMPT)

    def type(self, line, begins=False):
        """Types a command, and waits until it has ended, asks, or serves; not at all if it only begins."""
        if self._serves:
            self._send("\x03")
            self._until(PROMPT)
        self._serves = bool(re.search(r"\bpython tools\.py|^toolwire serve\b", line))
        end = " " if line.endswith("&") else "; "
        self._send(f"{line}\n" if self._serves else f"{line}{end}echo status=$?\n")
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
        self._until(f"{PROMPT}$|{QUESTION.pattern}")

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
        self.shown += self._decoder.decode(os.read(self._file, 65536)).replace("\r", "")


def blocks(page):
    """What the page says, with what is to be done about how each block ends."""
    found = BLOCK.findall(page)
    ends = [after[1] if after[0] == "exit" else "0" for after in found[1:]] + ["0"]
    return [(*block, int(end)) for block, end in zip(found, ends, strict=True)]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return str(listener.getsockname()[1])


def with_ids(block, printed):
    """The block with what was printed last, where the page has an example of what differs from run to run."""
    for shown, place in CHANGING.items():
        if found := re.findall(place, printed):
            block = re.sub(shown, found[-1], block)
    return block


def session(terminal, block, printed):
    """Types what stands behind each prompt, and compares what is printed: how many commands, and all that was printed."""
    parts = [part.splitlines() for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    for command, *lines in parts:
        before, terminal.shown = printed, ""
        terminal.type(with_ids(command, before))
        for typed in filter(None, map(TYPED.fullmatch, lines)):
            terminal.answer(typed[2])
        printed += f"\n{terminal.shown}"
        lines = [VARIES.sub("…", line) for line in lines if not TYPED.fullmatch(line)]
        # Columns are as wide as what is in them.
        lines, shown = ([re.sub(" +", " ", line) for line in of] for of in (lines, terminal.shown.splitlines()))
        missing = [line for line in lines if not re.search(pattern(line), "\n".join(shown))]
        fails = any(line.startswith("error:") for line in lines) and "|" not in command
        if missing or bool(terminal.last_status) != fails:
            sys.exit(f"$ {command}\nnot printed: {missing}\n{terminal.shown}")
    return len(parts), printed


def unmarked(page):
    """The first lines of blocks that a reader would type or see, and of which the page does not say what they are."""
    lines, is_code, found = ["", *page.splitlines(), ""], False, []
    for before, line, after in zip(lines, lines[1:], lines[2:]):
        if line.startswith("```"):
            is_code = not is_code
            if is_code and line[3:] in ("", "sh", "bash") and not before.startswith("<!-- "):
                found.append(after)
    return found


def main(page, wheel, folder):
    ports = {usual: free_port() for usual in ("50050", "50051", "50052", "50053", "50080", "5432")}

    def in_this_run(text):
        return re.sub(r"\b(%s)\b" % "|".join(ports), lambda usual: ports[usual[0]], text)

    terminals, now, printed, commands = {}, None, "", 0
    text = (ROOT / page).read_text()
    if page in WHOLE and (found := unmarked(text)):
        sys.exit(f"{page} does not say what is to be done with the blocks that begin with {found}")
    for kind, name, block, end in blocks(text):
        # Ports that are free here, and the wheel that was written for this run.
        block = in_this_run(block)
        block = block.replace("~/toolwire/dist/toolwire-*.whl", str(wheel)).replace("~/toolwire", str(ROOT))
        block = re.sub("cargo run (--release )?-- ", "toolwire ", block)
        block = re.sub(r"(?m)^(toolwire serve\b.*) --http(?= |$)", rf"\1 --http=127.0.0.1:{ports['50080']}", block)
        block = re.sub(r"(?m)^toolwire serve\b(?!.* --listen)", rf"\g<0> --listen 127.0.0.1:{ports['50051']}", block)
        if kind == "session":
            now = terminals[name] = terminals.get(name) or Terminal(folder)
            count, printed = session(now, block, printed)
            commands += count
            continue
        block = with_ids(block, printed)
        if kind == "file":
            (next(filter(Path.is_dir, (folder / "shop", folder))) / name).write_text(block)
        elif kind == "shows":
            lines = iter((ROOT / name).read_text().splitlines())
            if missing := [line for line in block.splitlines() if "…" not in line and line not in lines]:
                sys.exit(f"{name} does not have {missing}")
        elif kind in ("terminal", "begins"):
            now = terminals[name] = terminals.get(name) or Terminal(folder)
            now.shown = ""
            lines = [line for line in block.splitlines() if not ELSEWHERE.match(line)]
            for line in lines:
                if kind == "begins" and line == lines[-1]:
                    now.type(line, begins=True)
                    continue
                now.type(line)
                if copied := re.fullmatch(r"cp \S+/(\S+) \.", line):
                    file = folder / copied[1]
                    file.write_text(in_this_run(file.read_text()))
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
