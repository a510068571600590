"""An agent with a model of its own: `python agent.py openai|anthropic "How is my Apple position doing?"`.

Further lines of its input are further messages: after `toolwire approve ID` tell it to go on. A call that a person must
approve has the same request_id when the model makes it again, so that it is carried out, and once. The tools are Toolwire's:
declared by its export, called over gRPC at TOOLWIRE_SERVER. Needs the stubs of proto/toolwire on PYTHONPATH, the packages
grpcio and openai or anthropic, and a key in OPENAI_API_KEY or ANTHROPIC_API_KEY.
"""

import itertools
import json
import os
import sys
import uuid
from urllib.parse import urlsplit

import grpc

from toolwire.v1 import context_pb2, result_pb2, tool_service_pb2 as pb, tool_service_pb2_grpc

MOST_STEPS = 8
server = urlsplit(os.environ.get("TOOLWIRE_SERVER", "http://127.0.0.1:50051"))
is_encrypted = server.scheme == "https"
credentials = grpc.ssl_channel_credentials() if is_encrypted else None
channel = grpc.secure_channel(server.netloc, credentials) if is_encrypted else grpc.insecure_channel(server.netloc)
tools = tool_service_pb2_grpc.ToolServiceStub(channel)
# The request_id of calls that wait for a person, by tool and arguments.
waiting = {}
session = context_pb2.ToolContext(session_id=str(uuid.uuid4()))


def declared(format):
    return json.loads(tools.ExportTools(pb.ExportToolsRequest(format=format), timeout=10).json)


def call(tool, arguments):
    """What the model reads of a result: its data, a failure, or that a person must approve the call first."""
    try:
        same = tool, json.dumps(json.loads(arguments), sort_keys=True)
    except ValueError:
        same = tool, arguments
    request_id = waiting.get(same) or str(uuid.uuid4())
    request = pb.CallToolRequest(
        tool=tool, arguments_json=arguments, context=session, request_id=request_id,
        result_format=result_pb2.RESULT_FORMAT_MODEL,
    )
    try:
        answer = tools.CallTool(request, timeout=60)
    except grpc.RpcError as error:
        return f"not called: {error.details()}"
    if answer.HasField("confirmation_required"):
        waiting[same] = request_id
        needed = answer.confirmation_required
        return f"Not done yet: a person must approve {needed.confirmation_id} first. Then make the same call again."
    text = answer.result.data_text
    # A failure that says that it may be made again is made again as the same call.
    if not json.loads(text.partition("\n")[0]).get("error", {}).get("retryable"):
        waiting.pop(same, None)
    return text


def with_openai(messages):
    import openai

    client, model, offered = openai.OpenAI(), os.environ.get("MODEL", "gpt-5"), declared("openai")
    for _ in range(MOST_STEPS):
        said = client.chat.completions.create(model=model, messages=messages, tools=offered).choices[0].message
        messages.append(said)
        if not said.tool_calls:
            return said.content
        for use in said.tool_calls:
            result = call(use.function.name, use.function.arguments)
            messages.append({"role": "tool", "tool_call_id": use.id, "content": result})
    return "I have not come to an end."


def with_anthropic(messages):
    import anthropic

    client, model, offered = anthropic.Anthropic(), os.environ.get("MODEL", "claude-opus-4-5"), declared("anthropic")
    for _ in range(MOST_STEPS):
        said = client.messages.create(model=model, max_tokens=2048, messages=messages, tools=offered)
        messages.append({"role": "assistant", "content": said.content})
        uses = [block for block in said.content if block.type == "tool_use"]
        if not uses:
            return "".join(block.text for block in said.content if block.type == "text")
        results = [
            {"type": "tool_result", "tool_use_id": use.id, "content": call(use.name, json.dumps(use.input))}
            for use in uses
        ]
        messages.append({"role": "user", "content": results})
    return "I have not come to an end."


if __name__ == "__main__":
    answer, messages = {"openai": with_openai, "anthropic": with_anthropic}[sys.argv[1]], []
    for question in itertools.chain([sys.argv[2]], map(str.strip, sys.stdin)):
        messages.append({"role": "user", "content": question})
        print(answer(messages), flush=True)
