"""Programs that sign in at an identity provider, and that are not ours: the SDKs of MCP, FastMCP, and mcpc."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
LIMIT = 60
ATTEMPTS = 6


def run(command, environment, **variables):
    """Runs a program to its end and returns its output."""
    variables = {**environment, **variables}
    ended = subprocess.run(
        command, env=variables, capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL
    )
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    return ended.stdout


class Sdk:
    """One of the official SDKs, which signs in and calls in one run of a program."""

    def __init__(self, environment, *command):
        self.environment, self.command = environment, command

    def calls(self, server, era, account, *calls, client_id=""):
        """Signs this user in at a bare URL, and returns the result of each call, a tool and its arguments."""
        command = [*self.command, server.resource, era, json.dumps(calls)]
        printed = run(command, self.environment, ACCOUNT=account, CLIENT_ID=client_id)
        return [json.loads(line) for line in printed.splitlines()]


class FastMcp:
    """FastMCP's client."""

    def __init__(self, environment, python):
        # The program answers its browser, so it must not wait for it.
        self.environment = {**environment, "BROWSER": f"{environment['BROWSER']} %s &"}
        self.command = [python, HERE / "fastmcp_client.py"]

    def calls(self, server, account, *calls):
        """Signs this user in at a bare URL, and returns the data of each call, a tool and its arguments."""
        command = [*self.command, server.resource, json.dumps(calls)]
        return [json.loads(line) for line in run(command, self.environment, ACCOUNT=account).splitlines()]


class Mcpc:
    """The command line mcpc, with a folder of its own. The path of a socket in it must be short."""

    def __init__(self, environment, program, node, folder):
        opener = Path(folder, "xdg-open")
        opener.write_text('#!/bin/sh\nexec $BROWSER "$1"\n')
        opener.chmod(0o755)
        path = f"{folder}:{Path(node).parent}:{environment['PATH']}"
        # Without a bus it cannot store tokens in a keyring of this machine.
        own = {"MCPC_HOME_DIR": folder, "DBUS_SESSION_BUS_ADDRESS": "", "PATH": path, "ACCOUNT": "alice"}
        self.program, self.environment = program, {**environment, **own}

    def __call__(self, *words):
        return run([self.program, *words], self.environment)

    def connect(self, server):
        """Opens the session `@gate`. Its process has 5 s to start, which are too few on a busy machine."""
        assert any(self.is_connected(server) for _ in range(ATTEMPTS))

    def is_connected(self, server):
        try:
            return self("connect", server.resource, "@gate")
        except AssertionError as failure:
            return "within timeout" not in str(failure) and pytest.fail(str(failure))

    def call(self, tool, *arguments):
        return json.loads(self("@gate", "tools-call", tool, *arguments, "--json"))


def environment():
    """The environment of a program that signs in: it has a browser and no proxy."""
    return {**os.environ, "BROWSER": f"{sys.executable} {HERE / 'browser.py'}", "NO_PROXY": "*"}
