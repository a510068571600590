"""What providers' own packages say of the exports of all tools: offline, in each format, strict and not."""

import importlib
import json
import warnings

import grpc
import pytest
from pydantic import TypeAdapter

from toolwire.v1 import tool_pb2
from toolwire.v1 import tool_service_pb2 as pb

pytestmark = pytest.mark.filterwarnings("error")

LIMIT = 10
STRICT = pytest.mark.parametrize("strict", [False, True], ids=["plain", "strict"])
# What OpenAI's strict form takes, beside descriptions.
STRICT_KEYWORDS = {
    "type", "description", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "const",
    "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems",
    "maxItems",
}
# What the interface behind google-genai's `Schema` takes. The package lets more through.
SCHEMA_KEYWORDS = {
    "type", "format", "description", "nullable", "enum", "items", "minItems", "maxItems", "properties", "required",
    "minProperties", "maxProperties", "minLength", "maxLength", "pattern", "example", "anyOf", "propertyOrdering",
    "default", "minimum", "maximum",
}


def load(module):
    """A module of a provider's package. Its import may warn of what is its own affair; it is not part of the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(module)


@pytest.fixture(scope="module")
def genai():
    return load("google.genai.types")


@pytest.fixture(scope="module")
def export(tools):
    def exported(format, strict=False):
        response = tools.ExportTools(pb.ExportToolsRequest(format=format, strict=strict), timeout=LIMIT)
        return json.loads(response.json), list(response.notes)

    return exported


@pytest.fixture(scope="module")
def names(tools):
    """The tools that can be called, in order of name."""
    listed = tools.ListTools(pb.ListToolsRequest(view=tool_pb2.TOOL_VIEW_BASIC), timeout=LIMIT)
    disabled = tool_pb2.TOOL_STATE_DISABLED
    return [each.tool.name for each in listed if each.tool.status.state != disabled]


def schemas(schema):
    """A schema and every schema in it."""
    yield schema
    for inner in [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]:
        yield from schemas(inner)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            yield from schemas(schema[key])


def checked(type, value):
    """The value as the package reads it; nothing that it does not know is in it."""
    return TypeAdapter(type).validate_python(value, extra="forbid")


def assert_strict(schema):
    """The rules of OpenAI's structured outputs."""
    for each in schemas(schema):
        assert set(each) <= STRICT_KEYWORDS, each
        kinds = each.get("type", [])
        kinds = [kinds] if isinstance(kinds, str) else kinds
        assert kinds or "anyOf" in each, each
        if "object" in kinds:
            assert each["additionalProperties"] is False
            assert each["required"] == list(each["properties"])
        if "array" in kinds:
            assert "items" in each
    assert schema["type"] == "object"


@STRICT
def test_gemini_takes_json_schema(export, names, genai, strict):
    declared, _ = export("gemini", strict)
    tool = genai.Tool.model_validate(declared[0])
    assert [it.name for it in tool.function_declarations] == names
    assert all(it.parameters_json_schema["type"] == "object" for it in tool.function_declarations)
    assert len(declared) == 1


@STRICT
def test_gemini_takes_the_schemas_of_openapi(export, names, genai, strict):
    declared, _ = export("gemini-openapi", strict)
    tool = genai.Tool.model_validate(declared[0])
    assert [it.name for it in tool.function_declarations] == names
    for function in declared[0]["functionDeclarations"]:
        if "parameters" not in function:
            continue
        assert function["parameters"]["type"] == "OBJECT"
        for schema in schemas(function["parameters"]):
            assert set(schema) <= SCHEMA_KEYWORDS, (function["name"], schema)
            assert "anyOf" in schema or schema["type"] in genai.Type.__members__, schema
            assert all(isinstance(word, str) for word in schema.get("enum", []))
            assert schema.get("propertyOrdering", []) == list(schema.get("properties", {}))
    # What the package sends is what was exported: nothing is lost in its own types.
    sent = json.loads(tool.model_dump_json(exclude_none=True, by_alias=True))
    for ours, theirs in zip(declared[0]["functionDeclarations"], sent["functionDeclarations"], strict=True):
        assert (ours["name"], ours["description"]) == (theirs["name"], theirs["description"])
        assert set(ours) == set(theirs)


@STRICT
@pytest.mark.parametrize(
    ("format", "module", "name"),
    [("openai", "openai.types.chat", "ChatCompletionFunctionToolParam"),
     ("openai-responses", "openai.types.responses", "FunctionToolParam")],
)
def test_openai_takes_functions(export, names, strict, format, module, name):
    type = getattr(load(module), name)
    declared, notes = export(format, strict)
    functions = [checked(type, tool).get("function", tool) for tool in declared]
    assert [it["name"] for it in functions] == names
    for function in functions:
        if function["strict"]:
            assert_strict(function["parameters"])
        elif strict:
            assert any(note.startswith(f"{function['name']}: not strict: ") for note in notes)
    assert any(function["strict"] for function in functions) is strict


@STRICT
def test_anthropic_takes_tools(export, names, strict):
    declared, _ = export("anthropic", strict)
    type = load("anthropic.types").ToolParam
    tools = [checked(type, tool) for tool in declared]
    assert [it["name"] for it in tools] == names
    assert all(it["input_schema"]["type"] == "object" and "$schema" not in it["input_schema"] for it in tools)


@STRICT
def test_mcp_takes_the_list(export, names, strict):
    declared, _ = export("mcp", strict)
    result = load("mcp.types").ListToolsResult.model_validate(declared)
    assert [it.name for it in result.tools] == names
    # Read and written again it is the same: no key is unknown to the protocol.
    again = result.model_dump(by_alias=True, exclude_none=True, mode="json")
    assert again["tools"] == declared["tools"]
    for tool in declared["tools"]:
        hints = tool["annotations"]
        assert not (hints["readOnlyHint"] and hints["destructiveHint"])
        assert len(tool["_meta"]["toolwire/digest"]) == 64


def test_a_strict_form_that_there_is_not_is_noted(export):
    for format in ("gemini", "gemini-openapi", "anthropic", "mcp"):
        _, notes = export(format, strict=True)
        assert "no strict form" in notes[0]


def test_an_unknown_format_is_refused(tools):
    with pytest.raises(grpc.RpcError) as refused:
        tools.ExportTools(pb.ExportToolsRequest(format="opnai"), timeout=LIMIT)
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert "openai-responses" in refused.value.details()
