"""Fixtures that start servers and identity providers. Run the tests with tests/clients/issuer.sh."""

import sys
import tempfile
from pathlib import Path

import pytest

# What tests of replicas need, too.
sys.path.append(str(Path(__file__).parents[2] / "scale"))

from faces import FACES
from parties import CONFIG, HERE, Provider, Server
from programs import FastMcp, Mcpc, Sdk, environment


def pytest_addoption(parser):
    parser.addoption("--binary", required=True, help="the program")
    parser.addoption("--provider", required=True, help="provider.mjs, beside its node_modules")
    parser.addoption("--node", default="node", help="a Node that runs MCP's programs")
    parser.addoption("--typescript", help="sign_in.mjs, beside MCP's SDK")
    parser.addoption("--fastmcp", help="a Python that has FastMCP")
    parser.addoption("--mcpc", help="the command line mcpc, which a busy machine is too slow for")
    parser.addoption("--calls", type=int, default=2_000, help="made while keys are rotated")
    parser.addoption("--away", type=int, default=3, help="the seconds for which an issuer is away")


def pytest_terminal_summary(terminalreporter):
    """Prints what the tests have measured."""
    for report in terminalreporter.getreports("passed"):
        for _, figure in report.user_properties:
            terminalreporter.write_line(figure)


@pytest.fixture(scope="session")
def start(request, tmp_path_factory):
    """Functions that start a provider, a server for one, or a server by other settings; all end with the tests."""
    option, started = request.config.getoption, []

    def provider():
        started.append(Provider(option("--node"), option("--provider")))
        return started[-1]

    def configured(settings, folder=None):
        started.append(Server(option("--binary"), folder or tmp_path_factory.mktemp("server"), settings))
        return started[-1]

    def server(issuer, more=""):
        return configured(CONFIG.replace("{issuer}", issuer.url).replace("{more}", more))

    yield {"provider": provider, "server": server, "configured": configured}
    for each in reversed(started):
        each.close()


@pytest.fixture(scope="session")
def provider(start):
    return start["provider"]()


@pytest.fixture(scope="session")
def server(start, provider):
    return start["server"](provider)


@pytest.fixture(params=FACES, ids=lambda face: face.__name__)
def face(request, server):
    face = request.param(server)
    yield face
    face.close()


@pytest.fixture(params=["typescript", "python"])
def sdk(request):
    """Each of the official SDKs."""
    option = request.config.getoption
    if request.param == "python":
        return Sdk(environment(), sys.executable, HERE / "sign_in.py")
    return Sdk(environment(), option("--node"), option("--typescript"))


@pytest.fixture
def fastmcp(request):
    return FastMcp(environment(), request.config.getoption("--fastmcp"))


@pytest.fixture
def mcpc(request):
    """The command line mcpc; its session ends with the test."""
    option = request.config.getoption
    if not option("--mcpc"):
        pytest.skip("--mcpc is not given")
    with tempfile.TemporaryDirectory() as folder:
        program = Mcpc(environment(), option("--mcpc"), option("--node"), folder)
        yield program
        program("@gate", "close")
