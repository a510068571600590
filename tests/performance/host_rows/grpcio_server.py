"""The function `echo` of tools.py behind grpcio, as one would serve it by hand: a message in, a message out."""

import asyncio

import grpc
from google.protobuf.wrappers_pb2 import StringValue


async def echo(text: str) -> dict:
    return {"text": text}


async def main():
    async def method(request, _):
        return StringValue(value=(await echo(request.value))["text"])

    server = grpc.aio.server()
    handler = grpc.unary_unary_rpc_method_handler(method, StringValue.FromString, StringValue.SerializeToString)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("measured.Echo", {"Echo": handler}),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    await server.start()
    await server.wait_for_termination()


asyncio.run(main())
