"""What the checks of examples/deploy need: Helm's programs, Envoy, the program, and definitions of custom resources."""

from pathlib import Path

import pytest

from definitions import Definitions


def pytest_addoption(parser):
    parser.addoption("--helm", action="append", default=[], help="a program of Helm; several may be named")
    parser.addoption("--envoy", type=Path)
    parser.addoption("--binary", type=Path, help="the program of Toolwire")
    parser.addoption("--operator", type=Path, help="the program of tests/deploy/operator")
    parser.addoption("--definitions", type=Path, action="append", default=[], help="files of definitions, or folders")


def pytest_generate_tests(metafunc):
    if "helm" in metafunc.fixturenames:
        metafunc.parametrize("helm", metafunc.config.getoption("--helm"), ids=lambda path: Path(path).parent.name)


@pytest.fixture(scope="session")
def binary(pytestconfig):
    return pytestconfig.getoption("--binary")


@pytest.fixture(scope="session")
def envoy(pytestconfig):
    return pytestconfig.getoption("--envoy")


@pytest.fixture(scope="session")
def operator(pytestconfig):
    return pytestconfig.getoption("--operator")


@pytest.fixture(scope="session")
def definitions(pytestconfig):
    return Definitions.read(pytestconfig.getoption("--definitions"))
