"""A long write: it says how far it is, sends its parts ahead, stops when it is cancelled, and goes on in a repeat."""

import asyncio
from pathlib import Path
from typing import Annotated

from toolwire import Context, Param, serve, tool

REPORTS = Path("reports")


@tool(write=True, idempotent=True, timeout=120)
async def write_report(topic: str, pages: Annotated[int, Param(minimum=1, maximum=50)] = 5, *, ctx: Context) -> dict:
    """Writes a report, page by page, into a file. The same topic again goes on where it was.

    Args:
        topic: What it is about.
        pages: How long it is.
    """
    REPORTS.mkdir(exist_ok=True)
    path = REPORTS / f"{topic.replace('/', '-')}.txt"
    written = path.read_text().splitlines() if path.exists() else []
    try:
        for page in range(len(written), pages):
            await ctx.progress(f"Writing page {page + 1} of {pages}", page / pages)
            await asyncio.sleep(1)
            written.append(f"Page {page + 1} on {topic}.")
            path.write_text("\n".join(written))
            await ctx.chunk({"page": page + 1, "text": written[-1]})
    except asyncio.CancelledError:
        print(f"stopped after {len(written)} pages")
        raise
    return {"file": str(path), "pages": len(written)}


if __name__ == "__main__":
    serve()
