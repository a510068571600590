"""An agent with a model of its own: `python agent.py openai|anthropic "How is my Apple position doing?"`.

The tools are Toolwire's: declared by its export, called over gRPC. Needs the stubs of proto/toolwire on PYTHONPATH, the
packages grpcio, openai and anthropic, and a key in OPENAI_API_KEY or ANTHROPIC_API_KEY.
"""

import json
import os
import sys
import uuid

import anthropic
import grpc
import openai

from toolwire.v1 import context_pb2, result_pb2, tool_service_pb2 as pb, tool_service_pb2_grpc

MOST_STEPS = 8
channel = grpc.insecure_channel(os.environ.get("TOOLWIRE_ADDRESS", "127.0.0.1:50051"))
tools = tool_service_pb2_grpc.ToolServiceStub(channel)
session = context_pb2.ToolContext(session_id=str(uuid.uuid4()))


def declared(format):
    return json.loads(tools.ExportTools(pb.ExportToolsRequest(format=format), timeout=10).json)


def call(tool, arguments):
    """What the model reads of a result: its data, a failure, or that a person must approve the call first."""
    request = pb.CallToolRequest(
        tool=tool, arguments_json=arguments, context=session, request_id=str(uuid.uuid4()),
        result_format=result_pb2.RESULT_FORMAT_MODEL,
    )
    try:
        answer = tools.CallTool(request, timeout=60)
    except grpc.RpcError as error:
        return f"not called: {error.details()}"
    if answer.HasField("confirmation_required"):
        return f"a person must approve it first: {answer.confirmation_required.confirmation_id}"
    return answer.result.data_text


def with_openai(question):
    client, messages = openai.OpenAI(), [{"role": "user", "content": question}]
    model, offered = os.environ.get("MODEL", "gpt-5"), declared("openai")
    for _ in range(MOST_STEPS):
        said = client.chat.completions.create(model=model, messages=messages, tools=offered).choices[0].message
        if not said.tool_calls:
            return said.content
        messages.append(said)
        for use in said.tool_calls:
            result = call(use.function.name, use.function.arguments)
            messages.append({"role": "tool", "tool_call_id": use.id, "content": result})
    return "I have not come to an end."


def with_anthropic(question):
    client, messages = anthropic.Anthropic(), [{"role": "user", "content": question}]
    model, offered = os.environ.get("MODEL", "claude-opus-4-5"), declared("anthropic")
    for _ in range(MOST_STEPS):
        said = client.messages.create(model=model, max_tokens=2048, messages=messages, tools=offered)
        uses = [block for block in said.content if block.type == "tool_use"]
        if not uses:
            return "".join(block.text for block in said.content if block.type == "text")
        results = [
            {"type": "tool_result", "tool_use_id": use.id, "content": call(use.name, json.dumps(use.input))}
            for use in uses
        ]
        messages += [{"role": "assistant", "content": said.content}, {"role": "user", "content": results}]
    return "I have not come to an end."


if __name__ == "__main__":
    answer = {"openai": with_openai, "anthropic": with_anthropic}[sys.argv[1]]
    print(answer(sys.argv[2]))
