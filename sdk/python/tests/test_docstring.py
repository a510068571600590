"""Words of docstrings: none is lost, and none is of another parameter."""

import inspect
import json
from typing import Annotated

import pytest

from toolwire import Bind, Context, Param
from toolwire._docstring import read_docstring
from toolwire._tool import make

HEAD = "Pays money back for an order.\n\nDo not use it for vouchers."
ORDER, AMOUNT = "The order, such as A-1.", "In euros: with cents."
GOOGLE = """Pays money back
    for an order.

    Do not use it for vouchers.

    Args:
        order_id (str): The order, such as
            A-1.
        amount (float, optional): In euros:
            with cents.
"""
NUMPY = """Pays money back
    for an order.

    Do not use it for vouchers.

    Parameters
    ----------
    order_id : str
        The order, such as
        A-1.
    amount : float, optional
        In euros: with cents.
"""
REST = """Pays money back
    for an order.

    Do not use it for vouchers.

    :param order_id: The order, such as
        A-1.
    :type order_id: str
    :param float amount: In euros: with cents.
"""


@pytest.mark.parametrize("doc", [GOOGLE, NUMPY, REST])
def test_each_form_says_the_same(doc: str) -> None:
    assert read(doc, "order_id", "amount") == (HEAD, {"order_id": ORDER, "amount": AMOUNT})


def read(doc: str, *names: str) -> tuple[str, dict[str, str]]:
    return read_docstring(inspect.cleandoc(doc), names)


@pytest.mark.parametrize(
    ("doc", "after"),
    [
        (GOOGLE, "\n    Amounts are rounded.\n"), (REST, "\n    Amounts are rounded.\n"),
        (GOOGLE, "\n    Note:\n        Amounts are rounded.\n"), (GOOGLE, "\n    Raises:\n        when it is late\n"),
        (GOOGLE, "\n    Returns:\n        receipt: nothing of a parameter\n"),
        (GOOGLE, "\n    Example:\n        >>> pay(1)\n"),
        (NUMPY, "\n    Returns\n    -------\n    receipt\n        The number.\n"),
        (NUMPY, "\n    Limits\n    ------\n    Not on Sundays.\n"),
        (NUMPY, "\n    Notes\n    -----\n    order_id is old.\n"),
        (REST, "    :returns: a receipt\n    :raises NotFound: if there is none\n"),
    ],
)
def test_what_stands_after_the_parameters_is_of_the_function(doc: str, after: str) -> None:
    words, parameters = read(doc + after, "order_id", "amount")
    assert parameters == {"order_id": ORDER, "amount": AMOUNT}
    assert words == f"{HEAD}\n\n{inspect.cleandoc(after)}"


@pytest.mark.parametrize(
    ("doc", "words", "parameters"),
    [
        ("", "", {}), ("Pays: at once.", "Pays: at once.", {}),
        ("Pays.\n\n- once\n- twice\n\n    code", "Pays.\n\n- once\n- twice\n\n    code", {}),
        ("Pays.\n\nArgs:\n    a: Words.\n\n        More.\n    b:\n        Below.", "Pays.",
         {"a": "Words.\n\nMore.", "b": "Below."}),
        ("Pays.\n\nArgs:\n    a: Words.\n    other: Of no parameter.", "Pays.\n\nArgs:\n    other: Of no parameter.",
         {"a": "Words."}),
        ("Pays.\n\nArgs:\n    a: Words.\n\nKeyword Args:\n    b: Others.", "Pays.", {"a": "Words.", "b": "Others."}),
        ("Pays.\n\nParameters\n----------\na, b : int\n    Both.\n", "Pays.", {"a": "Both.", "b": "Both."}),
        ("Pays.\n\nParameters\n----------\na\n    Words.\nz\n    Others.",
         "Pays.\n\nParameters\n----------\nz\n    Others.", {"a": "Words."}),
        (":class:`A` pays.\n\n:param a: Words.", ":class:`A` pays.", {"a": "Words."}),
        ("Pays.\n\n@param a: Words.", "Pays.", {"a": "Words."}),
        ("a: not a parameter.\n\nArgs:\n    a: Words.", "a: not a parameter.", {"a": "Words."}),
        ("Pays.\n\nArgs:\n    nothing to parse", "Pays.\n\nArgs:\n    nothing to parse", {}),
        ("Pays.\n\nArgs:\n    ab: Long.\n    a: Short.", "Pays.", {"ab": "Long.", "a": "Short."}),
    ],
)
def test_no_word_is_lost(doc: str, words: str, parameters: dict[str, str]) -> None:
    assert read(doc, "a", "b", "ab") == (words, parameters)


def pay(order_id: str, user: Bind, ctx: Context) -> None:
    """Pays.

    Args:
        order_id: The order.
        user: Who pays.
        ctx: The call.
    """


def test_words_of_what_no_caller_gives_are_not_shown() -> None:
    pay.__annotations__ |= {"user": Annotated[str, Bind("user.id")], "order_id": Annotated[str, Param("As printed.")]}
    offer = make(pay).offer
    assert offer.description == "Pays."
    properties = json.loads(offer.input_schema_json)["properties"]
    assert properties == {"order_id": {"type": "string", "description": "The order. As printed."}}
