"""The program as a person has it before them: on a pseudo-terminal of 80 columns, at the server under test."""

import codecs
import fcntl
import json
import os
import pty
import re
import select
import struct
import termios
import time

import pytest

LIMIT = 60.0
COLUMNS = 80
CALL_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
UP, LEFT, CTRL_C, CTRL_D = "\x1b[A", "\x1b[D", "\x03", "\x04"
HOSTILE = "\x1b[2J\x9b31m\u202e\r"


class Terminal:
    """A pseudo-terminal, and the program that was started on it."""

    def __init__(self, arguments, environment, columns):
        self.shown = ""
        # A read can end within a character.
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._pid, self._file = pty.fork()
        if not self._pid:
            # Until the size of the terminal is set.
            os.read(0, 1)
            os.execve(arguments[0], arguments, environment)
        fcntl.ioctl(self._file, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self.press("\n")

    def press(self, keys):
        os.write(self._file, keys.encode())

    def until(self, pattern):
        """Waits until what is shown has this; returns what was shown up to its end, and drops that."""
        end = time.monotonic() + LIMIT
        while not (found := re.search(pattern, self.shown)):
            assert self._read(end), f"{pattern} does not come:\n{self.shown}"
        before, self.shown = self.shown[: found.end()], self.shown[found.end() :]
        return before

    def end(self):
        """Waits until the program has ended; returns what was shown, and its exit code."""
        end = time.monotonic() + LIMIT
        while self._read(end):
            pass
        os.close(self._file)
        return self.shown, os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])

    def echoes(self):
        """Whether the terminal shows what is typed, as it does while no line is edited."""
        return bool(termios.tcgetattr(self._file)[3] & termios.ECHO)

    def _read(self, end):
        assert select.select([self._file], [], [], max(0.0, end - time.monotonic()))[0], f"too late:\n{self.shown}"
        try:
            read = os.read(self._file, 65536)
        except OSError:
            # The program has ended.
            return False
        self.shown += self._decoder.decode(read)
        return bool(read)


def plain(shown):
    """What is shown without colours and movements."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown).replace("\r", "")


@pytest.fixture
def start(request, tmp_path):
    address, binary = (request.config.getoption(name) for name in ("--address", "--binary"))
    if not binary:
        pytest.skip("no --binary")

    def start(*arguments, columns=COLUMNS, **variables):
        environment = {"TERM": "xterm-256color", "TOOLWIRE_SERVER": f"http://{address}", "HOME": str(tmp_path)}
        return Terminal([os.path.abspath(binary), *arguments], environment | variables, columns)

    return start


def test_that_a_call_is_accepted_stays_visible(start):
    shown, code = start("call", "debug_sleep", "duration=0.5s", "progress_interval=0.1s").end()
    assert code == 0
    accepted = re.search(rf"accepted debug_sleep, call {CALL_ID}, until \S+\r\n", shown)
    assert accepted, shown
    assert "Slept for" in shown, "the bar has the progress"
    # Nothing goes up to the line, or clears the screen.
    assert not re.search(r"\x1b\[\d*[AFHJ]", shown[accepted.end() :]), shown


def test_ctrl_c_says_that_a_call_was_cancelled(start):
    terminal = start("call", "debug_sleep", "duration=60s")
    call_id = re.search(CALL_ID, terminal.until(rf"accepted debug_sleep, call {CALL_ID}"))[0]
    terminal.press(CTRL_C)
    shown, code = terminal.end()
    assert f"cancelled debug_sleep, call {call_id}" in plain(shown)
    assert code == 130


def test_ctrl_c_says_that_the_outcome_of_a_write_is_unknown(start):
    terminal = start("call", "debug_write", "value=x", "duration=20s")
    request_id = re.search(rf"request_id ({CALL_ID})", terminal.until("accepted debug_write, call"))[1]
    terminal.press(CTRL_C)
    terminal.until("Ctrl-C again leaves the call")
    terminal.press(CTRL_C)
    shown, code = terminal.end()
    assert "A write that had begun goes on, and its outcome is not known." in plain(shown)
    assert f"Ask for its outcome with --request-id {request_id}" in plain(shown)
    assert code == 130


def test_a_conversation_edits_its_lines(start):
    terminal = start("chat")
    terminal.until("> ")
    terminal.press("What is Aple trading at?" + LEFT * len("le trading at?") + "p\r")
    assert "193.12" in plain(terminal.until(r"193\.12"))
    terminal.until("> ")
    assert not terminal.echoes(), "the line is edited"
    terminal.press(UP)
    terminal.until("What is Apple trading at")
    terminal.press("\r")
    terminal.until(r"193\.12")
    terminal.until("> ")
    terminal.press(CTRL_D)
    terminal.until("To go on: toolwire chat --session ")
    assert terminal.end()[1] == 0


def test_ctrl_c_at_the_prompt_leaves_the_terminal_as_it_was(start):
    terminal = start("chat")
    terminal.until("> ")
    terminal.press("half a question" + CTRL_C)
    terminal.until("To go on: ")
    assert terminal.echoes()
    assert terminal.end()[1] == 0


def test_tables_fit_the_terminal_and_their_identifiers_are_taken(start):
    start("call", "get_quotes", "AAPL").end()
    for line in [("list",), ("describe", "get_transfers"), ("calls",), ("limits",), ("audit",)]:
        shown, code = start(*line).end()
        assert code == 0
        # A row that is indented belongs to a table; other lines of `describe` are prose, which the terminal wraps.
        rows = [it for it in plain(shown).splitlines() if line[0] != "describe" or it.startswith("  ")]
        assert [it for it in rows if len(it) > COLUMNS and "toolwire call" not in it] == [], line
    shown = plain(start("calls").end()[0])
    short = re.search(r"^([0-9a-f-]{13,})  get_quotes", shown, re.MULTILINE)[1]
    assert len(short) < 36
    shown, code = start("calls", short, "--json").end()
    assert code == 0
    assert json.loads(plain(shown))["call"]["call_id"].startswith(short)
    shown, code = start("calls", short[:1]).end()
    assert code == 2
    assert f"calls begin with {short[:1]}: " in plain(shown)


def test_every_table_fits_a_narrow_terminal_and_breaks_no_word(start):
    start("call", "get_quotes", "AAPL").end()
    value = "a-word-that-is-longer-than-any-line-of-a-narrow-terminal-and-is-broken-for-that-reason"
    start("call", "debug_confirm", f"value={value}", "--format", "json").end()
    task = re.search("task_[0-9a-f]{32}", start("tasks", "start", "Compare my accounts").end()[0])[0]
    start("workspace", "put", task, "notes/of-the-first-meeting.md", "--file", __file__).end()
    tables = [
        ("list",), ("describe", "get_symbol_performance"), ("calls",), ("audit",), ("confirmations", "--all"), ("limits",),
        ("tasks",), ("timeline", task), ("workspace", "ls", task), ("jobs",),
        ("workspace", "versions", task, "notes/of-the-first-meeting.md"),
    ]
    for line in tables:
        whole = plain(start(*line, columns=1000).end()[0])
        for columns in [60, COLUMNS]:
            shown, code = start(*line, columns=columns).end()
            assert code == 0, (line, shown)
            rows = plain(shown).splitlines()
            # Commands to be copied stay in one line.
            assert [it for it in rows if len(it) > columns and "toolwire" not in it] == [], line
            # A word is there as a whole, or it is an identifier or an instant that is shorter, or longer than half a line.
            words = {it for it in plain(shown).split() if len(it) > 3}
            known = set(whole.split())
            broken = {it for it in words - known if not re.fullmatch(r"(\w+_)?[0-9a-f-]{8,},?|[\d:.-]+Z?,?|.*…", it)}
            assert [it for it in broken if any(it in word and len(word) <= columns // 2 for word in known)] == [], line


def test_times_of_today_are_hours_where_there_is_no_room(start):
    start("call", "get_quotes", "AAPL").end()
    # Of many calls, those of one millisecond have long prefixes, and no time.
    shown = plain(start("calls", "--limit", "1", columns=80).end()[0])
    assert re.search(r"^[0-9a-f-]{13,20} +\w+ .* \d\d:\d\d:\d\dZ ", shown, re.MULTILINE), shown
    assert not re.search(r"\d{4}-\d\d-\d\dT", shown), shown
    assert re.search(r"\d{4}-\d\d-\d\dT", plain(start("calls", columns=200).end()[0]))


def test_markdown_of_an_answer_is_drawn_with_footnotes(start):
    shown, code = start("chat", "Show my positions").end()
    assert code == 0
    text = plain(shown)
    assert re.search(r"^Brokerage has \d+ positions \[1\]:$", text, re.MULTILINE), text
    assert re.search(r"^Symbol +Name +Class +Shares +Cost of one +Cost$", text, re.MULTILINE), text
    assert re.search(r"^AAPL .* 42 +\$150\.25 +\$6,310\.50$", text, re.MULTILINE), text
    assert "|" not in text, text
    assert re.search(r"^\[1\] get_positions_list, as of \S+ \(tool:positions_list:v1\)$", text, re.MULTILINE), text
    shown = start("chat", "What is Apple trading at?").end()[0]
    assert "\x1b[1mAAPL\x1b[0m" in shown
    assert "**" not in shown
    for variables in [{"NO_COLOR": "1"}, {"TERM": "dumb"}]:
        assert not re.search(r"\x1b\[[0-9;]*m", start("chat", "What is Apple trading at?", **variables).end()[0]), variables
    # As it is, where nothing is drawn.
    assert "**AAPL**" in start("chat", "What is Apple trading at?", TERM="dumb").end()[0]


def test_tools_are_listed_below_their_domains(start):
    shown = start("list").end()[0]
    text = plain(shown)
    headings = re.findall(r"^(\S.*)$", text, re.MULTILINE)
    assert headings[-4:-1] == ["brokerage (samples)", "orchestration (samples)", "research (samples)"], headings
    assert "docs/OWN_TOOLS.md says how to serve your own" in headings[-1]
    assert "\x1b[1mbrokerage (samples)\x1b[0m" in shown


def test_colours_are_for_terminals_that_want_them(start):
    line = ("call", "get_performance", "timefram=YTD")
    assert "\x1b[" in start(*line).end()[0]
    for variables in [{"NO_COLOR": "1"}, {"TERM": "dumb"}]:
        shown = start(*line, **variables).end()[0]
        assert "error: INVALID_ARGUMENT" in shown
        assert not re.search(r"\x1b\[[0-9;]*m", shown), variables


def test_a_text_does_not_steer_the_terminal(start):
    arguments = json.dumps({"value": HOSTILE})
    for form in ["text", "json", "model"]:
        shown, code = start("call", "debug_write", "--json", arguments, "--format", form).end()
        assert code == 0
        assert not re.search(r"\x1b\[2J|[\x80-\x9f\u202a-\u202e]", shown), form
        assert re.search(r"\\u\{?202e", shown)
