"""What the modules of `toolwire.adapters` say of what they do not take. How they work: tests/clients/adapters."""

import importlib
import sys
from typing import Any

import pytest

from toolwire import AsyncToolwire, ToolInfo, Toolwire
from toolwire.adapters import check

URL = "http://127.0.0.1:1"
LIBRARIES = {
    "openai_agents": "agents", "langchain": "langchain_core.tools", "llama_index": "llama_index.core.tools",
    "pydantic_ai": "pydantic_ai",
}


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_library_that_is_missing_is_named_with_its_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, f"toolwire.adapters.{name}", raising=False)
    monkeypatch.setitem(sys.modules, LIBRARIES[name], None)
    hint = rf": install the wheel of toolwire with its extra \[{name.replace('_', '-')}\]$"
    with pytest.raises(ImportError, match=LIBRARIES[name] + ".*" + hint):
        importlib.import_module(f"toolwire.adapters.{name}")


def test_an_agent_takes_the_tools_that_its_client_lists() -> None:
    info = ToolInfo("refund", "", "", "write", "medium", False, {}, {}, "")
    blocking, awaited = Toolwire.connect(URL), AsyncToolwire.connect(URL)
    assert check(blocking, iter([info])) == [info]
    assert check(awaited, []) == []
    wrong: list[tuple[Any, Any]] = [
        (blocking, None), (blocking, ["refund"]), (blocking, "refund"), (blocking, info), (blocking, {"refund": info}),
        (blocking, [check]), ([info], blocking), (None, [info]), (blocking, awaited.list_tools()),
    ]
    for client, listed in wrong:
        with pytest.raises(TypeError, match=r"tools\(client, client.list_tools\(\)\)$"):
            check(client, listed)
    unawaited: list[Any] = [None, ["refund"], awaited.list_tools()]
    for listed in unawaited:
        with pytest.raises(TypeError, match=r"tools\(client, await client.list_tools\(\)\)$"):
            check(awaited, listed)
    blocking.close()
