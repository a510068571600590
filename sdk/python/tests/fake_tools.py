"""A fake of the services that the client calls, on a thread: what each method answers is up to the test."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc

from tests.fake import details
from toolwire._stubs.toolwire.tasks.v1 import task_service_pb2
from toolwire._stubs.toolwire.v1 import confirmation_service_pb2, tool_service_pb2

SERVICES: dict[str, tuple[Any, list[str]]] = {
    "toolwire.v1.ToolService": (
        tool_service_pb2, ["GetTool", "ListTools", "InvokeTool", "CallTool", "CancelCall", "ExportTools"]
    ),
    "toolwire.v1.ConfirmationService": (confirmation_service_pb2, ["ListConfirmations", "DecideConfirmation"]),
    "toolwire.tasks.v1.TaskService": (
        task_service_pb2, ["CreateTask", "GetTask", "ListTasks", "AnswerQuestion", "CancelTask"]
    ),
}
STREAMS = {"ListTools", "InvokeTool"}


class Refusal(Exception):
    """What a method raises to be refused."""

    def __init__(self, code: grpc.StatusCode, reason: str, retry_after: float = 0) -> None:
        super().__init__(reason)
        self.code, self.reason, self.retry_after = code, reason, retry_after


class FakeTools:
    """Answers by the functions in `answers`; `requests` are what came, with their metadata in `metadata`."""

    def __init__(self) -> None:
        self.answers: dict[str, Callable[[Any], Any]] = {}
        self.requests: list[Any] = []
        self.metadata: list[dict[str, str]] = []
        self._server = grpc.server(ThreadPoolExecutor(8))
        for service, (module, methods) in SERVICES.items():
            handlers = {method: self._handler(module, method) for method in methods}
            self._server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, handlers),))
        self.url = f"http://127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def close(self) -> None:
        self._server.stop(0).wait()

    def _handler(self, module: Any, method: str) -> Any:
        def answer(request: Any, context: Any) -> Any:
            self.requests.append(request)
            self.metadata.append(dict(context.invocation_metadata()))
            try:
                return self.answers[method](request)
            except Refusal as refusal:
                context.set_trailing_metadata(details(refusal.code, refusal.reason, refusal.retry_after))
                context.abort(refusal.code, f"refused: {refusal.reason}")

        def stream(request: Any, context: Any) -> Iterator[Any]:
            yield from answer(request, context)

        kind = grpc.unary_stream_rpc_method_handler if method in STREAMS else grpc.unary_unary_rpc_method_handler
        read = getattr(module, f"{method}Request").FromString
        return kind(
            stream if method in STREAMS else answer, read, getattr(module, f"{method}Response").SerializeToString
        )
