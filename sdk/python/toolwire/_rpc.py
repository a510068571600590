"""Calls of the contract's services, without generated code."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cache
from typing import Any

from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from toolwire._target import Target
from toolwire.errors import Refused


class Connection:
    """A channel to a server. What fails raises Refused. The method is the one that takes the request."""

    def __init__(self, target: Target) -> None:
        # Not before it is needed: a host imports gRPC in its own way.
        import grpc

        self._channel, self._metadata = target.channel(grpc, target.authority), target.metadata
        self._url = target.url

    def close(self) -> None:
        self._channel.close()

    def unary(self, request: Message, timeout: float) -> Any:
        path, response = _method(request.DESCRIPTOR)
        method = self._channel.unary_unary(path, type(request).SerializeToString, response.FromString)
        with self._translate_errors():
            return method(request, timeout=timeout, metadata=self._metadata)

    def stream(self, request: Message, timeout: float) -> Iterator[Any]:
        """The call is cancelled when the iterator is left."""
        path, response = _method(request.DESCRIPTOR)
        method = self._channel.unary_stream(path, type(request).SerializeToString, response.FromString)
        with self._translate_errors(), contextlib.ExitStack() as stack:
            call = method(request, timeout=timeout, metadata=self._metadata)
            stack.callback(call.cancel)
            yield from call

    def pages(self, request: Any) -> Iterator[Any]:
        """The pages of a list."""
        while True:
            page = self.unary(request, 30)
            yield page
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    @contextlib.contextmanager
    def _translate_errors(self) -> Iterator[None]:
        import grpc

        try:
            yield
        except grpc.RpcError as error:
            refused = Refused.of(error)
            if refused.code == "UNAVAILABLE" and not refused.reason:
                hint = f"no answer of a server at {self._url}: start it, or name another by TOOLWIRE_SERVER"
                refused = Refused(refused.code, f"{hint} ({refused.message})")
            raise refused from None


@cache
def _method(request: Any) -> tuple[str, Any]:
    """The path of the method that takes a message of this descriptor, and its response: no two methods share one."""
    methods = (it for service in request.file.services_by_name.values() for it in service.methods)
    method = next(it for it in methods if it.input_type == request)
    return f"/{method.containing_service.full_name}/{method.name}", GetMessageClass(method.output_type)
