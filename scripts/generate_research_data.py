#!/usr/bin/env python3
"""Writes `data/research/`: what the embedded sources answer, each in the wire format of its own site.

    scripts/generate_research_data.py            writes the tree, and removes files that no part writes any more
    scripts/generate_research_data.py --check    writes nothing; exits 1 and names the files that differ

Needs only Python 3.9 or later. Every value is invented and drawn from a fixed seed: the same bytes come out on every
machine and every day. The parts are in `scripts/research_data/`, one module per source; to change what a site answers, change
its module and run this again. Nothing here was checked against the live sites.
"""

import argparse
import sys
from pathlib import Path

from research_data import common, news, nse, reddit, screener, universe, valuepickr, yahoo

ROOT = Path(__file__).resolve().parent.parent / "data" / "research"
# Written by people, not from here.
KEPT = {"README.md", "lexicon.json"}


def generated():
    """Every file: its path below the root, and its bytes."""
    found = {"universe.json": common.compact(universe.as_json())}
    for part in PARTS:
        for path, content in part.files():
            assert path not in found, path
            found[path] = content
    return {path: content if isinstance(content, bytes) else content.encode() for path, content in found.items()}


PARTS = [yahoo, valuepickr, reddit, news, screener, nse]


def present():
    paths = (path for path in ROOT.rglob("*") if path.is_file())
    return {path.relative_to(ROOT).as_posix(): path for path in paths} if ROOT.is_dir() else {}


def differing(wanted, found):
    # What answers and planners say is written by people.
    found = {path: file for path, file in found.items() if not path.startswith("answers/")}
    for path in sorted(wanted.keys() | (found.keys() - KEPT)):
        if path not in wanted:
            yield path, "not generated"
        elif path not in found:
            yield path, "missing"
        elif found[path].read_bytes() != wanted[path]:
            yield path, "differs"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare without writing; exit 1 on a difference")
    check = parser.parse_args().check
    wanted, found = generated(), present()
    changes = list(differing(wanted, found))
    for path, what in changes:
        if check:
            print(f"{path}: {what}", file=sys.stderr)
        elif path in wanted:
            target = ROOT / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(wanted[path])
        else:
            found[path].unlink()
    if check and changes:
        print("run scripts/generate_research_data.py", file=sys.stderr)
        return 1
    size = sum(map(len, wanted.values()))
    print(f"{len(wanted)} files, {size / 1e6:.2f} MB, {len(changes)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
