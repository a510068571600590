"""The tools that `toolwire host-check` calls, by which an SDK proves that it keeps the protocol."""

import asyncio
import os
import tempfile
from pathlib import Path

from toolwire import Context, errors, serve, tool

EFFECTS = Path(tempfile.mkdtemp()) / "effects"
KINDS = {kind.code: kind for kind in [errors.ToolError, *errors.ToolError.__subclasses__()]}


@tool
def check_echo(text: str) -> dict:
    """Returns its argument."""
    return {"text": text}


@tool
async def check_stream(count: int, *, ctx: Context) -> dict:
    """Reports progress, and sends chunks with the numbers from 0."""
    await ctx.progress("begun", 0.0)
    for number in range(count):
        await ctx.chunk({"number": number})
    return {"count": count}


@tool
async def check_sleep(seconds: float, *, ctx: Context) -> dict:
    """Reports progress and sleeps, unless it is cancelled."""
    await ctx.progress("asleep")
    await asyncio.sleep(seconds)
    return {"slept": True}


@tool
def check_fail(code: str) -> dict:
    """Fails with a code, or with EXCEPTION by an exception that is no outcome."""
    if code == "EXCEPTION":
        raise RuntimeError("not an outcome")
    raise KINDS[code]("failed as asked")


@tool(write=True)
def check_write(ctx: Context) -> dict:
    """Appends its request_id to a file, and returns how often the file has it."""
    with EFFECTS.open("a") as file:
        file.write(f"{ctx.request_id}\n")
    return {"count": EFFECTS.read_text().split().count(ctx.request_id)}


@tool
def check_large(bytes: int) -> dict:
    """Returns a text of this length."""
    return {"text": "a" * bytes}


@tool(write=True)
def check_crash() -> dict:
    """Ends the process."""
    os._exit(1)


if __name__ == "__main__":
    serve()
