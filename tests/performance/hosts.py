"""What hosts promise, measured: calls by way of a Python host, its loss and return, and what a malicious one does.

Usage: hosts.py BINARY [PART…] [--rounds N], where grpcio is, after scripts/sdk_stubs.py. Each figure is printed with
its goal; the exit code is 1 if one is missed. The parts are the functions below; without a name all run.
The machine should be idle: docs/PERFORMANCE.md has the figures of record.
"""

import argparse
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "sdk/python"))

from host_rows import attack, catalogue, losses, returns, speed
from host_rows.common import show

PARTS = [
    speed.throughput, speed.serve_alone, speed.cancel, catalogue.offer_catalogue, catalogue.attach_again,
    losses.kill_hosts, losses.kill_writers, losses.stop_hosts, returns.restart_server, returns.restart_hosts,
    attack.run_attacks, attack.stall_readers,
]


def main():
    names = {part.__name__: part for part in PARTS}
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(names))
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    os.environ["TOOLWIRE_BINARY"] = str(pathlib.Path(options.binary).resolve())
    missed = []
    for name in options.parts or names:
        for row in names[name](options.rounds):
            show(row)
            if not row.holds:
                missed.append(row.what)
    sys.exit(f"missed: {'; '.join(missed)}" if missed else 0)


if __name__ == "__main__":
    main()
