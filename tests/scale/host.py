"""A tool whose effects are counted outside of all that is killed: `host.py EFFECTS ADDRESS…`.

Each execution appends its `request_id` to the file, in one write, before it answers. The program has slots at each of
the addresses, as one does whose server's name has several.
"""

import asyncio
import os
import sys
from dataclasses import dataclass

from toolwire import Context
from toolwire._host import Attachment
from toolwire._target import Target
from toolwire._tool import make

EFFECTS, ADDRESSES = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND), sys.argv[2:]
SLOTS = 16


@dataclass(frozen=True)
class Replicas(Target):
    """A name of the server that leads to each replica."""

    async def addresses(self):
        return {f"ipv4:{address}" for address in ADDRESSES}


async def append_line(value: str, *, ctx: Context) -> dict:
    """Appends a line to a file. Use this when effects are counted."""
    os.write(EFFECTS, f"{ctx.request_id}\n".encode())
    await asyncio.sleep(0.003)
    return {"value": value}


async def append_slowly(value: str, *, ctx: Context) -> dict:
    """Appends a line to a file after a while. Use this when the server is killed meanwhile."""
    await asyncio.sleep(2)
    os.write(EFFECTS, f"{ctx.request_id}\n".encode())
    return {"value": value}


async def append_never(*, ctx: Context) -> dict:
    """Returns who called. Use this for calls without an effect."""
    return {"user": ctx.user.id}


async def main():
    target = Replicas(f"http://{ADDRESSES[0]}", os.environ["TOOLWIRE_HOST_TOKEN"])
    host = Attachment([make(append_line, write=True), make(append_slowly, write=True), make(append_never)], target, slots=SLOTS)
    await host.join()
    print("serves", flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
