"""Calls of a tool over each face, each call with its own token, over one connection and without retries. With `tls` it is
encrypted, and shows the certificate of a client if that has one."""

import http.client
import json

import grpc
from toolwire.v1 import tool_service_pb2, tool_service_pb2_grpc

LIMIT = 20
REVISION = "2026-07-28"
OK = "OK"


class Grpc:
    def __init__(self, server, tls=None):
        options = [("grpc.enable_retries", 0), ("grpc.use_local_subchannel_pool", 1)]
        self.channel = grpc.insecure_channel(server.address, options)
        if tls:
            self.channel = grpc.secure_channel(server.address, tls.credentials, options)
        self.tools = tool_service_pb2_grpc.ToolServiceStub(self.channel)

    def call(self, token, tool, arguments):
        """Returns OK, or the status and its message."""
        request = tool_service_pb2.CallToolRequest(tool=tool, arguments_json=json.dumps(arguments))
        metadata = [("authorization", f"Bearer {token}")] if token else []
        try:
            result = self.tools.CallTool(request, timeout=LIMIT, metadata=metadata).result
        except grpc.RpcError as error:
            return error.code().name, error.details()
        return (result.error.code, result.error.message) if result.HasField("error") else (OK, "")

    def close(self):
        self.channel.close()


class Whole:
    """Sends a request in one piece. The server closes a connection if it refuses a request whose body is incomplete."""

    pieces = b""

    def send(self, data):
        self.pieces += data

    def getresponse(self):
        whole, self.pieces = self.pieces, b""
        super().send(whole)
        return super().getresponse()


class Connection(Whole, http.client.HTTPConnection):
    pass


class EncryptedConnection(Whole, http.client.HTTPSConnection):
    pass


class Rest:
    def __init__(self, server, tls=None):
        self.connection = Connection(server.http, timeout=LIMIT)
        if tls:
            self.connection = EncryptedConnection(server.http, timeout=LIMIT, context=tls.context)

    def call(self, token, tool, arguments):
        return self.sent(f"/v1/tools/{tool}:call", arguments, token)

    def sent(self, path, body, token, **headers):
        headers["content-type"] = "application/json"
        if token:
            headers["authorization"] = f"Bearer {token}"
        try:
            self.connection.request("POST", path, json.dumps(body), headers)
            answer = self.connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            return type(error).__name__, str(error)
        return self.outcome(answer, text)

    def outcome(self, answer, text):
        return (OK, "") if answer.status == 200 else (str(answer.status), text)

    def close(self):
        self.connection.close()


class Mcp(Rest):
    def call(self, token, tool, arguments):
        names = {"mcp-protocol-version": REVISION, "mcp-method": "tools/call", "mcp-name": tool}
        meta = {
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return self.sent("/mcp", body, token, accept="application/json, text/event-stream", **names)

    def outcome(self, answer, text):
        if answer.status != 200:
            return str(answer.status), text
        result = json.loads(text).get("result")
        return (OK, "") if result and not result.get("isError") else ("200", text)


FACES = (Grpc, Rest, Mcp)
