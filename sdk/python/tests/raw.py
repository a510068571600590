"""A host by raw messages, which says what no SDK would, and a server that knows it as the provider `evil`."""

import json
import queue
from typing import Any

import grpc

from toolwire import Refused
from toolwire._stubs.toolwire.host.v1 import host_pb2
from toolwire._stubs.toolwire.v1 import tool_pb2

USER_TOKEN = "rileys-token-of-20-chars"
HOST_TOKENS = {"GOOD_TOKEN": "good-token-of-20-characters", "EVIL_TOKEN": "evil-token-of-20-characters"}
# Two providers, since a host that replaces the catalogue of its own provider harms itself alone.
CONFIGURATION = f'[[auth.users]]\nuser_id = "riley"\ntoken = "{USER_TOKEN}"\n' + "".join(
    f'[providers.{name}]\nkind = "host"\ntoken_env = "{name.upper()}_TOKEN"\n' for name in ("good", "evil")
)
# Schemas that take long to read: references that double, and levels.
BOMB = json.dumps({
    "type": "object", "properties": {"x": {"$ref": "#/$defs/a0"}},
    "$defs": {
        **{f"a{n}": {"anyOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 8} for n in range(12)}, "a12": {"type": "string"}
    },
})
DEEP = '{"type":"object","properties":{"x":' * 2000 + '{"type":"string"}' + "}}" * 2000


def offer(name: str, **changes: Any) -> host_pb2.Offer:
    made = host_pb2.Offer(
        name=name, description="Does something.", category=tool_pb2.TOOL_CATEGORY_READ,
        consequence_level=tool_pb2.CONSEQUENCE_LEVEL_LOW, input_schema_json='{"type":"object","properties":{}}',
    )
    made.MergeFrom(host_pb2.Offer(**changes))
    return made


class RawSlot:
    """A stream on which a test says what it wants."""

    def __init__(self, url: str, token: str, instance: str, catalogue: str) -> None:
        self.channel = grpc.insecure_channel(
            url.removeprefix("http://"),
            options=[("grpc.max_send_message_length", -1), ("grpc.use_local_subchannel_pool", 1)],
        )
        self.out: queue.Queue[Any] = queue.Queue()
        path = "/toolwire.host.v1.ToolHostService/Work"
        work = self.channel.stream_stream(path, _encode, host_pb2.WorkResponse.FromString)
        self.instance, self.catalogue = instance, catalogue
        self.send(hello=self.hello())
        self._in = work(iter(self.out.get, None), metadata=(("authorization", f"Bearer {token}"),))

    def hello(self, *offers: host_pb2.Offer) -> host_pb2.Hello:
        return host_pb2.Hello(
            protocol=1, instance=self.instance, catalogue_id=self.catalogue, sdk="raw/1", offers=offers
        )

    def send(self, **message: Any) -> None:
        self.out.put(host_pb2.WorkRequest(**message))

    def next(self, kind: str) -> Any:
        message = next(self._in)
        assert message.WhichOneof("message") == kind, message
        return getattr(message, kind)

    def greet(self, *offers: host_pb2.Offer) -> host_pb2.Welcome:
        welcome = self.next("welcome")
        if welcome.send_catalogue:
            self.send(hello=self.hello(*offers))
            welcome = self.next("welcome")
        assert isinstance(welcome, host_pb2.Welcome)
        return welcome

    def end(self) -> tuple[str, str]:
        """The status with which the server ends it: its code and its reason."""
        try:
            for _ in self._in:
                pass
        except grpc.RpcError as error:
            refused = Refused.of(error)
            return refused.status, refused.reason
        return "OK", ""

    def close(self) -> None:
        self.out.put(None)
        self.channel.close()


def _encode(message: Any) -> bytes:
    """A message, or bytes as they are to be sent."""
    return message if isinstance(message, bytes) else message.SerializeToString()
