"""A command to try: the call of a tool with arguments that its schema takes."""

from __future__ import annotations

import json
import math
import shlex
from typing import Any

from toolwire._forms import DECIMAL, INTEGER, Schema
from toolwire._json import to_json
from toolwire._target import Target
from toolwire._tool import Tool

FORMATS = {
    "date-time": "2026-01-31T12:00:00Z", "date": "2026-01-31", "uuid": "00000000-0000-4000-8000-000000000000",
    "uri": "https://example.com/", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "email": "a@example.com",
}
PATTERNS = {INTEGER: "1", DECIMAL: "1.50"}


def command(tool: Tool, target: Target) -> str:
    """The command line, whole but for the file of a token, which only a user of the server has."""
    arguments = example(json.loads(tool.offer.input_schema_json))
    if any(isinstance(value, dict | list | None) for value in arguments.values()):
        words = ["--json", to_json(arguments)]
    else:
        words = [f"{name}={value if isinstance(value, str) else to_json(value)}" for name, value in arguments.items()]
    words += ["--server", target.url, *(["--ca", target.ca] if target.ca else [])]
    token = " --token-file FILE" if target.has_token else ""
    return f"toolwire call {tool.name} {shlex.join(words)}{token}"


def example(schema: Schema, name: str = "value") -> Any:
    """A value that satisfies the schema: its own example, else the least, with only what an object requires."""
    if chosen := schema.get("examples") or schema.get("enum"):
        return chosen[0]
    if "anyOf" in schema:
        return example(schema["anyOf"][0], name)
    kind = schema.get("type")
    if kind == "object":
        members = schema.get("properties", {})
        return {member: example(members[member], member) for member in schema.get("required", [])}
    if kind == "array":
        first = [example(item, name) for item in schema.get("prefixItems", [])]
        return first or [example(schema.get("items", {}), name)] * schema.get("minItems", 0)
    if kind in ("integer", "number"):
        least = max(schema.get("minimum", -math.inf), schema.get("exclusiveMinimum", -math.inf) + 1)
        number = max(least, min(1, schema.get("maximum", math.inf), schema.get("exclusiveMaximum", math.inf) - 1))
        return math.ceil(number) if kind == "integer" else number
    if kind in ("boolean", "null"):
        return True if kind == "boolean" else None
    if schema.get("format") in FORMATS:
        return FORMATS[schema["format"]]
    if schema.get("pattern") in PATTERNS:
        return PATTERNS[schema["pattern"]]
    return name.upper().ljust(schema.get("minLength", 0), "_")[: schema.get("maxLength")]
