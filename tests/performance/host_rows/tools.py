"""The tools of the hosts that are measured: `python tools.py SLOTS [EFFECTS]`, beside the server of TOOLWIRE_SERVER."""

import asyncio
import os
import sys
import time

from toolwire import Context, serve, tool

SLOTS, EFFECTS = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else os.devnull


@tool
async def echo(text: str) -> dict:
    """Returns its argument."""
    return {"text": text}


async def work(seconds: float, chunk: bool = False, *, ctx: Context) -> dict:
    """Says which process carries it out, and then takes its time."""
    try:
        # A caller that reads this may have left before it returns.
        await ctx.progress(f"begun {os.getpid()}")
        if chunk:
            await ctx.chunk({"number": 0})
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        print(f"stopped {time.monotonic()}", flush=True)
        raise
    return {"pid": os.getpid()}


def work_briefly(seconds: float, *, ctx: Context) -> dict:
    """The same on a thread, which cannot be stopped, with an effect."""
    ctx.progress(f"begun {os.getpid()}")
    with open(EFFECTS, "a") as file:
        file.write(f"{ctx.request_id}\n")
    time.sleep(seconds)
    return {"pid": os.getpid()}


@tool(timeout=300)
async def pour(count: int, size: int, *, ctx: Context) -> dict:
    """Sends chunks as fast as they are taken."""
    for number in range(count):
        await ctx.chunk({"number": number, "text": "x" * size})
    return {"count": count}


if __name__ == "__main__":
    for name, options in {"look": {}, "put": {"write": True, "idempotent": True}, "act": {"write": True}}.items():
        tool(name=name, timeout=60, **options)(work)
        tool(name=f"{name}_briefly", timeout=3, **options)(work_briefly)
    serve(slots=SLOTS)
