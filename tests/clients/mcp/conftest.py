"""The server under test, and the ways to it, each with a client of each era."""

import subprocess

import pytest
from mcp import Client, StdioServerParameters

# What a client begins with: the newest revision, or the handshake of those before it.
ERAS = ["2026-07-28", "legacy"]


def pytest_addoption(parser):
    parser.addoption("--binary", required=True, help="the program")
    parser.addoption("--address", required=True, help="for gRPC, of a server started with --diagnostics --http")
    parser.addoption("--http", required=True, help="URL of its HTTP listener")
    parser.addoption("--node", default="node", help="a Node that runs MCP's programs")
    parser.addoption("--typescript", help="upstream/shop.mjs, beside its node_modules")


class Ways:
    """To the tools of the server under test, and to those of the program itself."""

    def __init__(self, option, state):
        self._binary, self._state = option("--binary"), state
        self.server, self.url = f"http://{option('--address')}", f"{option('--http')}/mcp"

    def __getitem__(self, way):
        if way == "http":
            return self.url
        of_server = {"server": ["--server", self.server], "own": ["--diagnostics", "--state", self._state]}[way]
        return StdioServerParameters(command=self._binary, args=["mcp", *of_server])

    def deciding(self, way):
        """The same way, for a client whose person decides in its forms."""
        program = self[way]
        return StdioServerParameters(command=program.command, args=[*program.args, "--decide-here"])

    def run(self, *arguments):
        """A command of the command line, as another person would give it."""
        return self.run_for("server", *arguments)

    def run_for(self, way, *arguments):
        """The same, about what is called by that way."""
        place = ["--diagnostics", "--state", self._state] if way == "own" else ["--server", self.server]
        command = [self._binary, *arguments, *place]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=20).stdout


@pytest.fixture(scope="session")
def ways(request, tmp_path_factory):
    return Ways(request.config.getoption, str(tmp_path_factory.mktemp("state")))


@pytest.fixture(params=ERAS)
def era(request):
    return request.param


@pytest.fixture
def client(ways, way, era):
    return Client(ways[way], mode=era, read_timeout_seconds=30)
