"""The contract's messages, in a pool of descriptors of their own.

So a program may import its own stubs of the same files too: two definitions of a message in one pool are an error.
"""

from importlib.resources import files
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

_POOL = descriptor_pool.DescriptorPool()
_SET = files(__name__).joinpath("descriptors.binpb").read_bytes()
for _file in descriptor_pb2.FileDescriptorSet.FromString(_SET).file:
    _POOL.AddSerializedFile(_file.SerializeToString())


def fill(module: dict[str, Any], name: str) -> None:
    """Gives a module the messages, and the values of the enums, of a file."""
    file = _POOL.FindFileByName(name)
    for message in file.message_types_by_name.values():
        module[message.name] = message_factory.GetMessageClass(message)
    for enum in file.enum_types_by_name.values():
        module[enum.name] = EnumTypeWrapper(enum)
        module |= {value.name: value.number for value in enum.values}
