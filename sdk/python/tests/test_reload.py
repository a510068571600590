"""What is served after an edit is what the file says, also where the edit changes the name of the provider."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.processes import Server, environment, start_host, wait_until
from toolwire import Toolwire, ToolwireError

BINARY = os.environ.get("TOOLWIRE_BINARY", "")
pytestmark = pytest.mark.skipif(not BINARY, reason="TOOLWIRE_BINARY names no server")
# Within which whatever a test waits for happens, in seconds. A host that gave way comes back after 5.
LIMIT = 20.0
HEAD = """
import os, time
from pathlib import Path
from toolwire import Context, serve, tool

@tool(timeout=60)
def wait_for_go(ctx: Context) -> dict:
    ctx.progress("begun")
    while not ctx.cancelled and not (Path(__file__).parent / "go").exists():
        time.sleep(0.01)
    return {"edition": EDITION}

"""


def program(*tools: str, edition: int = 0, options: str = "") -> str:
    """Its text: tools that return the number of the edition, and one that is under way for long."""
    functions = [f"@tool\ndef {name}() -> dict:\n    return {{'edition': EDITION}}\n" for name in tools]
    return "\n".join([HEAD, f"EDITION = {edition}\n", *functions, f"serve({options})\n"])


DEV = [BINARY, "dev", "--python", sys.executable]


class Edited:
    """A program under `toolwire dev`, whose text is replaced."""

    def __init__(self, file: Path, text: str, command: Sequence[str] = DEV, **variables: str) -> None:
        self.file, self.log, self.output = file, file.with_suffix(".log"), file.with_suffix(".out")
        self.file.write_text(text)
        with self.log.open("w") as log, self.output.open("w") as output:
            self.process = subprocess.Popen(
                [*command, str(file)], stdout=output, stderr=log, cwd=file.parent, env=environment(**variables)
            )
        wait_until(lambda: "\n" in self.output.read_text() or self.process.poll() is not None, LIMIT)
        self.first = self.output.read_text().partition("\n")[0]
        assert " at http" in self.first, (self.first, self.log.read_text())
        self.url = self.first.split()[-1]

    def save(self, text: str) -> None:
        """In one step, as editors do."""
        written = self.file.with_suffix(".new")
        written.write_text(text)
        written.replace(self.file)

    def says(self, words: str, times: int = 1) -> None:
        try:
            wait_until(lambda: self.log.read_text().count(words) == times, LIMIT)
        except AssertionError:
            raise AssertionError(self.log.read_text()) from None

    def stop(self) -> None:
        """Also after a test that failed."""
        self.process.terminate()
        try:
            self.process.wait(LIMIT)
        finally:
            self.process.kill()


Start = Callable[..., Edited]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    with contextlib.ExitStack() as stack:

        def start(text: str, name: str = "tools", command: Sequence[str] = DEV, **variables: str) -> Edited:
            edited = Edited(tmp_path / f"{name}.py", text, command, **variables)
            stack.callback(edited.stop)
            return edited

        yield start


def served(url: str) -> dict[str, str]:
    """The tools that can be called, with their providers."""
    command = [BINARY, "list", "--server", url, "--json"]
    listed = subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment(), timeout=LIMIT
    ).stdout
    ready = [it for it in json.loads(listed) if it["status"]["state"] == "TOOL_STATE_READY" and it["provider"]]
    return {it["name"]: it["provider"] for it in ready}


def edition_of(url: str, name: str) -> Any:
    with Toolwire.connect(url) as tools:
        try:
            return tools.call(name).data["edition"]
        except ToolwireError as error:
            return error.code


def all_of(provider: str, *names: str) -> dict[str, str]:
    return dict.fromkeys([*names, "wait_for_go"], provider)


def test_a_provider_is_named_renamed_and_unnamed(start: Start) -> None:
    edited = start(program("one", "two"))
    assert edited.first.startswith("toolwire serves 3 tools of local at ")
    assert served(edited.url) == all_of("local", "one", "two")
    # With one tool more: that not all of them were refused hid that most were.
    edited.save(program("one", "two", "three", edition=1, options="provider='mine'"))
    edited.says("toolwire serves the edit: 4 tools of mine\n")
    assert served(edited.url) == all_of("mine", "one", "two", "three")
    assert edition_of(edited.url, "one") == 1
    edited.save(program("one", "two", edition=2, options="provider='yours'"))
    edited.says("toolwire serves the edit: 3 tools of yours\n")
    assert served(edited.url) == all_of("yours", "one", "two")
    # As it was at first, to the byte.
    edited.save(program("one", "two"))
    edited.says("toolwire serves the edit: 3 tools of local\n")
    assert served(edited.url) == all_of("local", "one", "two")
    assert edition_of(edited.url, "one") == 0
    assert "refused" not in edited.log.read_text()


def test_settings_of_the_server_that_an_edit_changes_are_named(start: Start) -> None:
    edited = start(program("one"))
    edited.save(program("one", edition=1, options="port=50999, samples=True"))
    until = "until the program is stopped and started again"
    edited.says(f"toolwire keeps the server at {edited.url} {until}, without samples=True, port=50999 of this edit\n")
    edited.says("serves the edit: 2 tools of local\n")
    assert served(edited.url) == all_of("local", "one")


def test_the_command_without_a_program_shows_no_option_that_it_adds_by_itself() -> None:
    command = [sys.executable, "-c", "from toolwire._binary import main; main()", "dev"]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=LIMIT)
    assert ended.returncode == 2
    assert "Usage: toolwire" in ended.stderr
    assert "--python" not in ended.stderr


def test_an_edit_moves_the_program_to_another_server(start: Start, server: Server) -> None:
    edited = start(program("one"))
    edited.save(program("one", edition=1, options=f"server={server.url!r}"))
    edited.says("serves the edit: 2 tools of local\n")
    assert served(server.url) == all_of("local", "one")
    assert served(edited.url) == {}
    edited.save(program("one", edition=2))
    edited.says("serves the edit: 2 tools of local\n", 2)
    assert served(edited.url) == all_of("local", "one")
    assert served(server.url) == {}


def test_a_tool_is_renamed_and_removed(start: Start) -> None:
    edited = start(program("one", "two"))
    edited.save(program("one", "second", edition=1))
    edited.says("serves the edit: 3 tools of local\n")
    assert served(edited.url) == all_of("local", "one", "second")
    edited.save(program("one", edition=2))
    edited.says("serves the edit: 2 tools of local\n")
    assert served(edited.url) == all_of("local", "one")
    assert edition_of(edited.url, "second") == "NOT_FOUND"


# The edition joins, and then does not say that it serves, or does as soon as there is a file `told`.
JOINED = """
from toolwire import _edition
_edition.Edition.tell_served = lambda *_: (Path(__file__).parent / "joined").touch()
"""
TOLD_LATE = """
from toolwire import _edition
tell_served = _edition.Edition.tell_served

def tell_late(*arguments):
    (Path(__file__).parent / "joined").touch()
    while not (Path(__file__).parent / "told").exists():
        time.sleep(0.01)
    tell_served(*arguments)

_edition.Edition.tell_served = tell_late
"""


def before_serve(text: str, of: str) -> str:
    """The program with this text before it serves."""
    return of.replace("\nserve(", f"\n{text}\nserve(")


@pytest.mark.parametrize("options", ["", "provider='yours'"])
def test_a_second_save_at_once_counts_and_the_first_leaves_nothing(
    start: Start, tmp_path: Path, options: str
) -> None:
    edited = start(program("one", "two"))
    edited.save(before_serve(JOINED, program("one", "two", "three", edition=1, options="provider='mine'")))
    wait_until((tmp_path / "joined").exists, LIMIT)
    edited.save(program("one", edition=2, options=options))
    provider = "yours" if options else "local"
    edited.says(f"serves the edit: 2 tools of {provider}\n")
    assert served(edited.url) == all_of(provider, "one")
    assert edition_of(edited.url, "one") == 2
    edited.save(program("one", "two", "three", edition=3, options="provider='mine'"))
    edited.says("serves the edit: 4 tools of mine\n")
    assert served(edited.url) == all_of("mine", "one", "two", "three")


def test_an_edition_that_is_given_up_before_it_says_that_it_serves_gives_the_tools_back(
    start: Start, tmp_path: Path
) -> None:
    edited = start(program("one", "two"))
    edited.save(before_serve(TOLD_LATE, program("one", "two", "three", edition=1, options="provider='mine'")))
    wait_until((tmp_path / "joined").exists, LIMIT)
    edited.save("of no syntax\n")
    edited.says("does not serve this: the program has ended with 1; what was served before is served on")
    (tmp_path / "told").touch()
    wait_until(lambda: served(edited.url) == all_of("local", "one", "two"), LIMIT)
    assert edition_of(edited.url, "one") == 0


# What `toolwire dev` runs. It looks at the files after an edition has asked as if 10 s had passed, and tells of it.
LOOKED = """
import sys
from pathlib import Path
from toolwire import _reload
look = _reload.Program._look

def look_late(program):
    is_asking = program._trying is not None and program._trying.is_asking
    if is_asking:
        program._looks = _reload.MOST_LOOKS - 1
    look(program)
    if is_asking:
        Path("looked").touch()

_reload.Program._look = look_late
sys.exit(_reload.main(sys.argv[1:]))
"""


def test_an_edition_waits_for_a_call_of_one_that_was_given_up_under_its_name(start: Start, tmp_path: Path) -> None:
    edited = start(program("one"), command=[sys.executable, "-c", LOOKED])
    edited.save(before_serve(JOINED, program("one", "two", edition=1, options="provider='mine'")))
    wait_until((tmp_path / "joined").exists, LIMIT)
    with Toolwire.connect(edited.url) as tools:
        events = tools.stream("wait_for_go", timeout=60)
        next(events)
        next(events)
        edited.save(program("one", "three", edition=2, options="provider='mine'"))
        wait_until((tmp_path / "looked").exists, LIMIT)
        (tmp_path / "go").touch()
        assert [*events][-1].data == {"edition": 1}  # type: ignore[union-attr]
    edited.says("serves the edit: 3 tools of mine\n")
    assert served(edited.url) == all_of("mine", "one", "three")
    assert edition_of(edited.url, "one") == 2
    assert "does not call serve()" not in edited.log.read_text()


# Files that say how far an edition is.
MARKED = """
from toolwire import _edition
note_joined = _edition.Edition.note_joined

def mark_joined(*arguments):
    note_joined(*arguments)
    Path(__file__).with_name(f"joined{EDITION}").touch()

_edition.Edition.note_joined = mark_joined
Path(__file__).with_name(f"begun{EDITION}").touch()
"""


def test_many_saves_end_with_what_the_last_one_says(start: Start, tmp_path: Path) -> None:
    edited = start(program("one", "two"))
    for number in range(12):
        text = program("one", "two", edition=number, options=f"provider='p{number % 3}'")
        edited.save(before_serve(MARKED, text))
        # Another one comes before the edition of this one is started, before and after it joins, and while it serves.
        match number % 4:
            case 1:
                wait_until((tmp_path / f"begun{number}").exists, LIMIT)
            case 2:
                wait_until((tmp_path / f"joined{number}").exists, LIMIT)
            case 3:
                wait_until(lambda: edition_of(edited.url, "one") == number, LIMIT)  # noqa: B023
    edited.save(program("one", edition=99, options="provider='last'"))
    edited.says("serves the edit: 2 tools of last\n")
    assert served(edited.url) == all_of("last", "one")


WRONG_CONDITION = """
@tool(write=True, approve_unless={'x': {'maximun': 1}})
def pay(x: int) -> dict:
    return {}
"""


@pytest.mark.parametrize(
    ("options", "wrong", "said"),
    [
        ("provider='My Tools'", "", "a name is of a-z, 0-9, _ and -"),
        # It has joined by then.
        ("provider='mine'", WRONG_CONDITION, "maximun"),
        ("provider='mine'", "raise ValueError('of the program')\n", "of the program"),
    ],
    ids=["name", "condition", "exception"],
)
def test_a_renamed_edition_that_does_not_serve_gives_the_tools_back(
    start: Start, options: str, wrong: str, said: str
) -> None:
    edited = start(program("one", "two"))
    edited.save(program("one", "two", edition=1, options=options).replace("\nserve(", f"\n{wrong}\nserve("))
    edited.says("does not serve this: the program has ended with 1; what was served before is served on")
    assert said in edited.log.read_text()
    wait_until(lambda: served(edited.url) == all_of("local", "one", "two"), LIMIT)
    assert edition_of(edited.url, "one") == 0
    edited.save(program("one", "two", edition=2, options="provider='mine'"))
    edited.says("serves the edit: 3 tools of mine\n")
    assert served(edited.url) == all_of("mine", "one", "two")


def test_a_program_that_has_died_may_be_renamed_and_started_by_the_same_edit(start: Start) -> None:
    process = "\n@tool\ndef process() -> dict:\n    return {'pid': os.getpid()}\n\nserve("
    edited = start(program("one").replace("\nserve(", process))
    with Toolwire.connect(edited.url) as tools:
        os.kill(tools.call("process").data["pid"], signal.SIGKILL)
    edited.says("serves nothing: the program has ended by SIGKILL; the next edit starts it again")
    edited.save(program("one", edition=1, options="provider='mine'"))
    wait_until(lambda: "toolwire serves 2 tools of mine at " in edited.output.read_text(), LIMIT)
    assert served(edited.url) == all_of("mine", "one")


def test_a_call_under_way_outlasts_the_change_of_its_providers_name(start: Start, tmp_path: Path) -> None:
    edited = start(program("one"))
    with Toolwire.connect(edited.url) as tools:
        events = tools.stream("wait_for_go", timeout=60)
        next(events)
        next(events)
        edited.save(program("one", edition=1, options="provider='mine'"))
        edited.says("serves the edit: 2 tools of mine\n")
        (tmp_path / "go").touch()
        assert [*events][-1].data == {"edition": 0}  # type: ignore[union-attr]
    assert edition_of(edited.url, "one") == 1


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path / "server", "--no-samples")
    yield made
    made.kill()


def test_a_tool_is_moved_between_two_programs_of_a_server(start: Start, server: Server) -> None:
    text = "from toolwire import serve, tool\n@tool\ndef {} -> dict:\n    return {{}}\n"
    one = text.format("moved()") + text.format("stays()") + "serve(provider='one')\n"
    other = text.format("own()") + "serve(provider='other')\n"
    first = start(one, "first", TOOLWIRE_SERVER=server.url)
    second = start(other, "second", TOOLWIRE_SERVER=server.url)
    # Before the first one gives it up.
    second.save(text.format("moved()") + other)
    second.says("toolwire serves the edit: 1 tool of other; refused, for the reasons above: moved\n")
    said = f"refused: moved: /name Tool 'moved' is already registered (by the provider `one`); rename one of the two"
    assert f"{said} ({second.file}:2)" in second.log.read_text()
    assert "save its file under `toolwire dev`" in second.log.read_text()
    assert served(server.url) == {"moved": "one", "stays": "one", "own": "other"}
    first.save(text.format("stays()") + "serve(provider='one')\n")
    first.says("serves the edit: 1 tool of one\n")
    second.save("\n" + second.file.read_text())
    second.says("serves the edit: 2 tools of other\n")
    assert served(server.url) == {"moved": "other", "stays": "one", "own": "other"}
    # And back, given up first.
    second.save(other)
    second.says("serves the edit: 1 tool of other\n")
    first.save(one)
    first.says("serves the edit: 2 tools of one\n")
    assert served(server.url) == {"moved": "one", "stays": "one", "own": "other"}


def test_the_tools_of_another_program_that_took_the_name_over_are_left_alone(
    start: Start, server: Server, tmp_path: Path
) -> None:
    edited = start(program("one", options="provider='mine'"), TOOLWIRE_SERVER=server.url)
    (tmp_path / "other.py").write_text(program("theirs", options="provider='mine'"))
    with (tmp_path / "other.log").open("w") as log:
        other = start_host(tmp_path / "other.py", log=log, TOOLWIRE_SERVER=server.url)
    with other, contextlib.ExitStack() as stack:
        stack.callback(other.kill)
        wait_until(lambda: served(server.url) == all_of("mine", "theirs"), LIMIT)
        edited.save(program("one", options="provider='yours'").replace("wait_for_go", "wait_here"))
        edited.says("serves the edit: 2 tools of yours\n")
        assert served(server.url) == {**all_of("mine", "theirs"), "one": "yours", "wait_here": "yours"}
        other.send_signal(signal.SIGTERM)
        assert other.wait(LIMIT) == 0
    assert "waits" not in (tmp_path / "other.log").read_text()
