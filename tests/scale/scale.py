"""What replicas on one PostgreSQL promise, held to figures.

Usage: .ci/postgres.sh python scale.py BINARY ENVOY [--short] [ROWS…], with the stubs of tests/clients on PYTHONPATH,
and those of the SDK written (scripts/sdk_stubs.py). ROWS are names of modules here; without any, all of them.
"""

import os
import signal
import sys
import time
from pathlib import Path

import clocks
import elsewhere
import followers
import limits
import mutual
import price
import rolling
import writes

ALL = {module.__name__: module for module in (writes, clocks, limits, followers, elsewhere, rolling, mutual, price)}

# Rows of calls through Envoy.
OF_ENVOY = ("rolling", "mutual")


def main(binary, envoy, *arguments):
    # What was started is ended with this program.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    short, names = "--short" in arguments, [it for it in arguments if it != "--short"] or [*ALL]
    if not Path(envoy).is_file():
        sys.exit(f"there is no Envoy at {envoy}")
    if "TOOLWIRE_TEST_POSTGRES_BIN" not in os.environ:
        sys.exit("there is no PostgreSQL: start this by .ci/postgres.sh")
    missed = []
    for name in names:
        began = time.monotonic()
        print(f"{name}: {ALL[name].__doc__.splitlines()[0]}", flush=True)
        programs = [binary, envoy] if name in OF_ENVOY else [binary]
        rows = ALL[name].run(*programs, short)
        for row in rows:
            line = f"{'ok  ' if row.holds else 'MISS'} {row.what:46} {row.goal:14} {row.seen}"
            print(line, flush=True)
            if not row.holds:
                missed.append(f"{name}: {line}")
        print(f"     {time.monotonic() - began:.0f} s", flush=True)
    # Again, where the end of a long log has them.
    return "\n".join([f"{len(missed)} rows are missed:", *missed]) if missed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
