"""The server under test: `pytest tests/clients/python --address HOST:PORT`, with the stubs on PYTHONPATH."""

import grpc
import pytest

from toolwire.brokerage.v1 import brokerage_service_pb2_grpc
from toolwire.v1 import confirmation_service_pb2_grpc, tool_service_pb2_grpc


def pytest_addoption(parser):
    parser.addoption("--address", required=True, help="address of a server started with --diagnostics")
    parser.addoption("--binary", help="the program, for tests of what it shows on a terminal")
    parser.addoption("--http", help="URL of its HTTP listener; its add_to_watchlist needs approval")


@pytest.fixture(scope="session")
def channel(request):
    with grpc.insecure_channel(request.config.getoption("--address")) as channel:
        yield channel


@pytest.fixture(scope="session")
def tools(channel):
    return tool_service_pb2_grpc.ToolServiceStub(channel)


@pytest.fixture(scope="session")
def confirmations(channel):
    return confirmation_service_pb2_grpc.ConfirmationServiceStub(channel)


@pytest.fixture(scope="session")
def brokerage(channel):
    return brokerage_service_pb2_grpc.BrokerageServiceStub(channel)
