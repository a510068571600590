"""The command that is printed to try: its arguments satisfy the schema that the tool has."""

import json
import shlex
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from annotated_types import Gt
from pydantic import AnyUrl, SecretStr

from toolwire import Context, Param
from toolwire._example import command, example
from toolwire._target import Target
from toolwire._tool import make

URL = "http://127.0.0.1:50051"


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Line:
    sku: str
    count: Annotated[int, Param(minimum=2)]
    note: str = ""


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (str, "ARGUMENT"), (Annotated[str, Param(min_length=10)], "ARGUMENT__"),
        (Annotated[str, Param(max_length=3)], "ARG"), (Annotated[str, Param(examples=["A-1", "A-2"])], "A-1"),
        (int, 1), (Annotated[int, Param(minimum=1.5)], 2), (Annotated[float, Param(maximum=0.5)], 0.5),
        (Annotated[float, Param(minimum=-2, maximum=-1)], -1), (bool, True), (Literal["b", "a"], "b"),
        (Colour, "red"), (date, "2026-01-31"), (UUID, "00000000-0000-4000-8000-000000000000"),
        (Decimal, "1.50"), (Annotated[int, Param(as_text=True)], "1"),
        (list[str], []), (Annotated[list[int], Param(min_items=2)], [1, 1]), (int | str, 1),
        (Line, {"sku": "SKU", "count": 2}), (tuple[int, date], [1, "2026-01-31"]), (bytes, "aGk="), (time, "12:00:00"),
        (timedelta, "PT1H30M"), (Path, "ARGUMENT"), (dict[int, str], {}), (Annotated[int, Gt(5)], 6), (AnyUrl, "https://example.com/"),
        (SecretStr, "ARGUMENT"),
    ],
)
def test_an_example_is_that_of_the_schema_or_the_least_that_satisfies_it(hint: Any, expected: Any) -> None:
    def function(argument) -> None: ...  # type: ignore[no-untyped-def]

    function.__annotations__["argument"] = hint
    tool = make(function)
    assert example(json.loads(tool.offer.input_schema_json)) == {"argument": expected}


def refund(
    order_id: Annotated[str, Param(examples=["A 1"])], amount: Annotated[float, Param(minimum=5)], express: bool,
    note: str = "", *, ctx: Context,
) -> None: ...


def place(lines: Annotated[list[Line], Param(min_items=1)]) -> None: ...


def test_the_command_is_whole() -> None:
    line = command(make(refund), Target(URL))
    assert line == f"toolwire call refund 'order_id=A 1' amount=5 express=true --server {URL}"
    line = command(make(refund), Target("https://tools.example", "secret", "/my ca.pem"))
    assert line.endswith("""--server https://tools.example --ca '/my ca.pem' --token-file FILE""")
    assert "secret" not in line
    words = shlex.split(command(make(place), Target(URL)))
    assert words[:4] == ["toolwire", "call", "place", "--json"]
    assert json.loads(words[4]) == {"lines": [{"sku": "SKU", "count": 2}]}
