"""What a program is told of a server's URL, a token, a name or a file of certificates that cannot be one."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.fake_tools import FakeTools
from toolwire import AsyncToolwire, Host, Toolwire
from toolwire._stubs.toolwire.v1 import tool_service_pb2

URL = "http://127.0.0.1:1"


def status() -> None: ...


@pytest.mark.parametrize("url", ["127.0.0.1:50051", "localhost", "ftp://a", "http://", "http://a:b", "http://a:70000"])
def test_a_url_that_is_none_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    example = "http://127.0.0.1:50051" if "://" in url else f"http://{url}"
    said = re.escape(f"{url!r} is not the URL of a server, such as {example}")
    with pytest.raises(ValueError, match=f"^{said}$"):
        Toolwire.connect(url)
    monkeypatch.setenv("TOOLWIRE_SERVER", url)
    makers: list[Callable[[], Any]] = [Toolwire.connect, lambda: Host([status])]
    for make in makers:
        with pytest.raises(ValueError, match=f"^TOOLWIRE_SERVER: {said}$"):
            make()


@pytest.mark.parametrize("odd", ["a b", " a", "a ", "a\nb", "é", "\ufeffa", "a\x01", "a\x7f", "\t"])
def test_a_token_or_name_that_no_header_has_is_refused(odd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    makers: dict[str, Callable[[], Any]] = {
        "TOOLWIRE_TOKEN": lambda: Toolwire.connect(URL), "TOOLWIRE_HOST_TOKEN": lambda: Host([status], server=URL),
    }
    for name, make in makers.items():
        monkeypatch.setitem(os.environ, name, odd)
        with pytest.raises(ValueError, match=rf"^the token \({name}, or token=…\) contains .* visible ASCII"):
            make()
    with pytest.raises(ValueError, match=r"^the name of the user contains .* visible ASCII"):
        AsyncToolwire.connect(URL, "", user=odd)


def test_the_file_of_a_token_is_read_and_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "token"
    for text, said in [(None, "cannot be read: "), (b"", "is empty"), (b"\n", "is empty"), (b"a b", "contains ' '"),
                       (b"a\nb", "contains '\\n'"), (b"\xff", "cannot be read: ")]:
        if text is not None:
            file.write_bytes(text)
        with pytest.raises(ValueError, match=re.escape(f"the token in {str(file)!r} {said}")):
            Host([status], server=URL, token_file=file)
    file.write_text("abc\n")
    monkeypatch.setenv("TOOLWIRE_HOST_TOKEN", "of-the-environment")
    for host in (Host([status], server=URL, token_file=file), Host([status], server=URL, token_file=str(file))):
        assert host.target
        assert host.target.metadata == (("authorization", "Bearer abc"),)
    monkeypatch.setenv("TOOLWIRE_HOST_TOKEN_FILE", str(file))
    # What the program says stands above what the environment does.
    explicit = Host([status], server=URL, token="mine").target
    assert explicit
    assert explicit.metadata == (("authorization", "Bearer mine"),)
    makers: list[Callable[[], Any]] = [
        lambda: Host([status], server=URL), lambda: Host([status], server=URL, token="a", token_file=file),
    ]
    for make in makers:
        with pytest.raises(ValueError, match="there are two tokens"):
            make()
    monkeypatch.delenv("TOOLWIRE_HOST_TOKEN")
    host = Host([status], server=URL)
    assert host.target
    file.write_text("def")
    assert host.target.metadata == (("authorization", "Bearer def"),)


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
def test_a_token_may_have_the_line_end_of_its_file(end: str) -> None:
    fake = FakeTools()
    fake.answers["CancelCall"] = lambda _: tool_service_pb2.CancelCallResponse(cancelled=True)
    with Toolwire.connect(f"{fake.url}{end}", f"abc{end}") as tools:
        assert tools.cancel("c")
    assert fake.metadata[0]["authorization"] == "Bearer abc"
    fake.close()


def test_a_file_that_holds_no_certificates_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_text("no certificate")
    for name in ("missing.pem", "empty.pem", "."):
        path = str(tmp_path / name)
        with pytest.raises(ValueError, match=f"^'{re.escape(path)}' .TOOLWIRE_CA. is no PEM file of certificates: "):
            Toolwire.connect("https://127.0.0.1:1", ca=path)
