"""Tools are functions: they are tried without a server."""

import asyncio

import pytest
from tools import order_status, refund

from toolwire import Context, NotFound


def test_an_order_is_found_or_it_is_said_that_there_is_none():
    assert order_status("A-1")["state"] == "sent"
    with pytest.raises(NotFound, match="no order B-1"):
        order_status("B-1")


def test_a_repeat_pays_nothing_more():
    ctx = Context(request_id="0196f1c2-7a4b-7c3d-8e5f-0123456789ab")
    first = asyncio.run(refund("A-1", 80.0, ctx=ctx))
    assert asyncio.run(refund("A-1", 80.0, ctx=ctx)) is first
    assert ctx.progressed[0] == ("Asking the bank", 0.5)
