"""Which program a host says that it is."""

import os
import sys
import sysconfig
import unittest
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import Attach
from tests.fake import FakeServer
from toolwire._binary import state_beside
from toolwire._program import MOST_BYTES, instance_of, program_of
from toolwire._tool import Tool, make


def look() -> dict[str, str]:
    return {}


@pytest.fixture
def main(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", module)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    return module


def of_look() -> dict[str, Tool]:
    return {"look": make(look)}


def test_a_program_is_its_file_and_user(main: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    main.__file__ = "tools.py"
    named = program_of(of_look())
    assert named.startswith(f"{tmp_path}/tools.py of ")
    (tmp_path / "other.py").symlink_to(tmp_path / "tools.py")
    main.__file__ = str(tmp_path / "other.py")
    assert program_of(of_look()) == named
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_000)
    assert program_of(of_look()) == f"{tmp_path}/tools.py of 4000000000"


def test_what_a_launcher_starts_is_the_file_of_its_tools(main: ModuleType) -> None:
    main.__file__ = f"{sys.prefix}/bin/uvicorn"
    assert program_of(of_look()).startswith(f"{Path(__file__).resolve()} of ")
    assert program_of({}).startswith(f"{Path(main.__file__).resolve()} of ")


def test_a_notebook_is_named_by_its_editor(
    main: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert program_of(of_look()).startswith(f"a session in {Path.cwd()} of ")
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "a.ipynb"))
    assert program_of(of_look()).startswith(f"{tmp_path}/a.ipynb of ")
    main.__dict__["__vsc_ipynb_file__"] = str(tmp_path / "b.ipynb")
    assert program_of(of_look()).startswith(f"{tmp_path}/b.ipynb of ")


@pytest.mark.parametrize("name", ["x" * 3000, "a\nb", "a\udcffb", "\u202e", "ü" * 600])
def test_whatever_its_path_is_the_text_is_one_line_that_fits_and_tells_it_from_others(
    main: ModuleType, name: str
) -> None:
    said = []
    for end in ("a", "b"):
        main.__file__ = f"/{name}/{end}.py"
        said.append(program_of(of_look()))
    assert said[0] != said[1]
    assert all(len(it.encode()) <= MOST_BYTES and it.isprintable() for it in said)


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        ("/srv/shop/tools.py", "tools.py"), ("/srv/a b\u00fc\n.py", "a_b__.py"), (f"/srv/{'x' * 300}.py", "x" * 32),
        (None, Path.cwd().name[:32]),
    ],
)
def test_a_process_is_named_by_its_file_and_is_no_other(main: ModuleType, file: str | None, shown: str) -> None:
    if file:
        main.__file__ = file
    first, second = instance_of(of_look()), instance_of(of_look())
    assert first != second
    for name in (first, second):
        assert name.startswith(f"{shown}-{os.getpid()}-")
        # As the protocol says.
        assert len(name) <= 64
        assert all("!" <= it <= "~" for it in name)


@pytest.mark.anyio
@pytest.mark.parametrize("token", ["", "secret"])
async def test_the_list_of_hosts_shows_which_program_each_is(
    main: ModuleType, server: FakeServer, attach: Attach, token: str
) -> None:
    main.__file__ = "/srv/shop/tools.py"
    await attach(look, token=token)
    assert (await server.slot()).hellos[0].instance.startswith(f"tools.py-{os.getpid()}-")


@pytest.mark.anyio
async def test_it_is_said_where_no_token_says_whose_host_it_is(server: FakeServer, attach: Attach) -> None:
    await attach(look)
    assert (await server.slot()).hellos[0].program
    await attach(look, token="secret")
    assert not (await server.slot()).hellos[0].program


def test_two_users_of_one_long_path_are_two_programs(main: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    main.__file__ = f"/{'x' * 3000}/tools.py"
    first = program_of(of_look())
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_000)
    assert program_of(of_look()) != first


@pytest.mark.parametrize(
    "command", [unittest.__file__, "/opt/x/site-packages/uvicorn/__main__.py", f"{sysconfig.get_path('scripts')}/x"]
)
def test_a_command_has_no_state_beside_it(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert state_beside(command) == tmp_path / ".toolwire/state"
