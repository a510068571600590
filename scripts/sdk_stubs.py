"""Generates the stubs of the Python SDK from proto/: `python scripts/sdk_stubs.py [OUT]`.

Needs grpcio-tools and googleapis-common-protos of tests/clients/python/requirements.txt. Of the contract the package
holds a set of descriptors, from which `toolwire._stubs` makes its classes in a pool of its own, and one module a file:
code that protoc writes would bind the package to protoc's version, and its messages to the pool that all of a process
share. Their types, for people who read and check programs, are protoc's.
"""

import re
import sys
import tempfile
from pathlib import Path

import google.rpc.status_pb2
from google.protobuf import descriptor_pb2
from grpc_tools import protoc

ROOT = Path(__file__).parent.parent
PACKAGE = "toolwire._stubs"
WANTED = [
    "google/rpc/error_details.proto", "google/rpc/status.proto", "toolwire/host/v1/host.proto",
    "toolwire/tasks/v1/task_service.proto", "toolwire/v1/confirmation_service.proto", "toolwire/v1/tool_service.proto",
]
MODULE = '''"""Messages of {name}."""

from toolwire._stubs import fill

fill(globals(), "{name}")
'''


def run(*arguments):
    includes = [ROOT / "proto", Path(protoc.__file__).parent / "_proto"]
    includes.append(Path(google.rpc.status_pb2.__file__).parents[2])
    if protoc.main(["protoc", *(f"-I{path}" for path in includes), *map(str, arguments)]):
        sys.exit("protoc failed")


def main(out):
    for old in (path for path in out.rglob("*_pb2.py*")):
        old.unlink()
    set_file = out / "descriptors.binpb"
    run("--include_imports", f"--descriptor_set_out={set_file}", *WANTED)
    described = descriptor_pb2.FileDescriptorSet.FromString(set_file.read_bytes())
    # Well-known types keep the names that they have everywhere: their Python types are those of the library.
    ours = [file.name for file in described.file if not file.name.startswith("google/protobuf/")]
    with tempfile.TemporaryDirectory() as folder:
        run(f"--pyi_out={folder}", *ours)
        for name in ours:
            module = out / name.replace(".proto", "_pb2.py")
            module.parent.mkdir(parents=True, exist_ok=True)
            module.write_text(MODULE.format(name=name))
            types = (Path(folder) / name).with_name(module.name + "i").read_text()
            moved = re.sub(r"^from (?=toolwire|google\.rpc)", f"from {PACKAGE}.", types, flags=re.MULTILINE)
            module.with_suffix(".pyi").write_text(moved)
    print(f"stubs of {len(ours)} files in {out}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "sdk/python/toolwire/_stubs")
