"""Calls of the contract's services, without generated code."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterator
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message

from toolwire._target import Target
from toolwire.errors import Refused

M = TypeVar("M", bound=Message)

serialize = operator.methodcaller("SerializeToString")


class Connection:
    """A channel to a server. What fails raises Refused."""

    def __init__(self, target: Target) -> None:
        self._channel, self._metadata = target.channel(grpc, target.authority), target.metadata

    def close(self) -> None:
        self._channel.close()

    def unary(self, path: str, request: Message, kind: type[M], timeout: float) -> M:
        method = self._channel.unary_unary(f"/{path}", serialize, kind.FromString)
        with _refused():
            response: M = method(request, timeout=timeout, metadata=self._metadata)
            return response

    def stream(self, path: str, request: Message, kind: type[M], timeout: float) -> Iterator[M]:
        """The call is cancelled when the iterator is left."""
        method = self._channel.unary_stream(f"/{path}", serialize, kind.FromString)
        with _refused(), contextlib.ExitStack() as stack:
            call = method(request, timeout=timeout, metadata=self._metadata)
            stack.callback(call.cancel)
            yield from call

    def pages(self, path: str, request: Any, kind: type[M]) -> Iterator[M]:
        """The pages of a list."""
        while True:
            page: Any = self.unary(path, request, kind, 30)
            yield page
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token


@contextlib.contextmanager
def _refused() -> Iterator[None]:
    try:
        yield
    except grpc.RpcError as error:
        raise Refused.of(error) from None
