"""Checks that `cargo run`, `cargo build` and `cargo test` compile each package once, and the same way.

What is compiled twice has two sets of features, or depends on a package that has. The features that one of them lacks
are printed: tests/features/Cargo.toml switches them on for all. Reads cargo's plan and compiles nothing.
"""

import json
import os
import subprocess
import sys

# Cargo prints its plan as an unstable option, which this variable allows.
ENVIRONMENT = os.environ | {"RUSTC_BOOTSTRAP": "1"}
COMMANDS = {
    "cargo run": ["build", "--bin", "toolwire"],
    "cargo build": ["build"],
    "cargo test": ["test", "--no-run"],
}


def plan(arguments):
    """The units of a command: what is compiled, and how."""
    command = ["cargo", *arguments, "--locked", "--unit-graph", "-Z", "unstable-options"]
    return json.loads(subprocess.run(command, env=ENVIRONMENT, check=True, stdout=subprocess.PIPE).stdout)["units"]


def compiled(units):
    """What each library is compiled with: its features, its profile, and those of all that it depends on."""
    ways = {}

    def way(index):
        if index not in ways:
            unit = units[index]
            profile = {name: value for name, value in unit["profile"].items() if name != "name"}
            below = frozenset(way(dependency["index"]) for dependency in unit["dependencies"])
            own = (unit["pkg_id"], unit["target"]["src_path"], unit["mode"], json.dumps(profile), *unit["features"])
            ways[index] = hash((own, below))
        return ways[index]

    libraries = {}
    for index, unit in enumerate(units):
        if unit["mode"] == "build" and unit["target"]["kind"] != ["custom-build"]:
            library = unit["pkg_id"].rpartition("#")[2], *unit["target"]["kind"]
            profile = json.dumps(unit["profile"] | {"name": ""})
            libraries.setdefault(library, {})[way(index)] = (frozenset(unit["features"]), profile)
    return libraries


def main():
    twice = {}
    for command, arguments in COMMANDS.items():
        for library, ways in compiled(plan(arguments)).items():
            for key, how in ways.items():
                twice.setdefault(library, {}).setdefault(key, (how, command))
    twice = {library: list(ways.values()) for library, ways in twice.items() if len(ways) > 1}
    for (package, *_), ways in sorted(twice.items()):
        every = frozenset().union(*(features for (features, _), _ in ways))
        for (features, _), command in ways:
            if features != every:
                print(f"{package}: by {command} without the features {sorted(every - features)}")
        if len({profile for (_, profile), _ in ways}) > 1:
            print(f"{package}: with several profiles")
    if twice:
        names = ", ".join(sorted(package for package, *_ in twice))
        sys.exit(f"{len(twice)} packages are compiled more than once: {names}")


main()
