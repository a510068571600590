"""The package beside a program's own stubs of the same contract, in one process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SDK = Path(__file__).parent.parent
PROTO = SDK.parent.parent / "proto"
PROGRAM = """
import sys
if "--theirs-first" in sys.argv:
    from toolwire.v1 import tool_service_pb2, tool_service_pb2_grpc
import toolwire
from toolwire._stubs.toolwire.host.v1 import host_pb2 as own_host
from toolwire._stubs.toolwire.v1 import tool_service_pb2 as own
from toolwire.host.v1 import host_pb2, host_pb2_grpc
from toolwire.v1 import tool_service_pb2, tool_service_pb2_grpc
from google.protobuf import descriptor_pool
from google.rpc import status_pb2
assert tool_service_pb2.CallToolRequest is not own.CallToolRequest
assert tool_service_pb2_grpc.ToolServiceStub
theirs = tool_service_pb2.CallToolRequest(tool="a")
assert own.CallToolRequest.FromString(theirs.SerializeToString()).tool == "a"
assert host_pb2.Hello.DESCRIPTOR.full_name == own_host.Hello.DESCRIPTOR.full_name
assert descriptor_pool.Default().FindMessageTypeByName("toolwire.v1.CallToolRequest") is \\
    tool_service_pb2.CallToolRequest.DESCRIPTOR
assert toolwire.serve and toolwire.__file__.startswith(SDK)
print("both")
"""


@pytest.mark.parametrize("order", ["--theirs-first", "--ours-first"])
@pytest.mark.parametrize("sdk_first", [True, False])
def test_a_program_imports_its_own_stubs_too(tmp_path: Path, order: str, sdk_first: bool) -> None:
    protos = [str(path) for path in PROTO.rglob("*.proto")]
    subprocess.run(
        [sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTO}", f"--python_out={tmp_path}",
         f"--grpc_python_out={tmp_path}", *protos],
        check=True,
    )
    path = os.pathsep.join([str(SDK), str(tmp_path)][:: 1 if sdk_first else -1])
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("SDK", repr(str(SDK))), order], env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path, capture_output=True, text=True,
    )
    assert said.stdout == "both\n", said.stderr
