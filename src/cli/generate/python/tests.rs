//! The module of a few tools, to the letter, and of hostile ones.

use serde_json::{Value, json};

use super::*;
use crate::generate::catalogue::Tool;

fn tool(name: &str, input: Value, output: Value) -> Tool {
    Tool { name: name.to_owned(), description: String::new(), approval: None, input, output }
}

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn module(tools: Vec<Tool>) -> String {
    render(&Catalogue {
        tools,
        command: "toolwire generate python --tag shop".to_owned(),
        digest: "00ff".to_owned(),
    })
}

const SHOP: &str = r#"# Made by `toolwire generate python --tag shop`: make it again instead of editing it.
# It has 1 tool, whose definitions have the digest 00ff.
# ruff: noqa
# fmt: off
"""The tools of a server of Toolwire, typed: `Tools(Toolwire.connect())`, or in an event loop
`AsyncTools(AsyncToolwire.connect())`. A method returns the data of a call, and raises what `Toolwire.call` does. A
parameter that is left out is not sent.
"""

from __future__ import annotations

import sys
from typing import Any, Literal, TypedDict, cast

from toolwire import AsyncToolwire, Toolwire

if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired

_OMITTED: Any = ...


RefundItemsItem = TypedDict("RefundItemsItem", {
    "class": "Literal[\"a\", 1] | None",
    #: At least 0.
    "count": "NotRequired[int]",
})


class RefundResult(TypedDict):
    """What was paid."""

    #: The rest,
    #: or none.
    rest: NotRequired[float | None]
    next: RefundResult


class Tools:
    """The tools, by a client that the caller closes."""

    def __init__(self, client: Toolwire) -> None:
        self._client = client

    def _call(
        self, tool: str, arguments: dict[str, Any],
        request_id: str, task_id: str, wait_for_approval: float, timeout: float,
    ) -> Any:
        given = {name: value for name, value in arguments.items() if value is not _OMITTED}
        result = self._client.call(
            tool, given, request_id=request_id, task_id=task_id,
            wait_for_approval=wait_for_approval, timeout=timeout,
        )
        return result.data

    def refund(
        self,
        *,
        items: list[RefundItemsItem],
        timeout_: dict[str, int] = _OMITTED,
        request_id: str = "",
        task_id: str = "",
        wait_for_approval: float = 0,
        timeout: float = 60,
    ) -> RefundResult:
        """Pays back.

        A person must approve each call: ConfirmationRequired.

        Args:
            items: What came back. At most 3 elements.
            timeout_: `timeout`.
        """
        return cast(RefundResult, self._call("refund", {
            "items": items,
            "timeout": timeout_,
        }, request_id, task_id, wait_for_approval, timeout))
"#;

#[test]
fn a_tool_becomes_a_method_and_its_objects_become_classes() {
    let item = object(
        &json!({"class": {"enum": ["a", 1, null]}, "count": {"type": "integer", "minimum": 0}}),
        &["class"],
    );
    let items = json!({"type": "array", "description": "What came back.", "items": item, "maxItems": 3});
    let timeout = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    let rest = json!({"type": ["null", "number"], "description": "The rest,\nor none."});
    let mut output = object(&json!({"rest": rest, "next": {"$ref": "#"}}), &["next"]);
    output["description"] = "What was paid.".into();
    let refund = Tool {
        description: "Pays back.".to_owned(),
        approval: Some("A person must approve each call: ConfirmationRequired."),
        ..tool("refund", object(&json!({"items": items, "timeout": timeout}), &["items"]), output)
    };
    let module = module(vec![refund]);
    let (blocking, of_coroutines) = module.split_once("\n\nclass AsyncTools:").expect("both");
    assert_eq!(blocking, SHOP, "{blocking}");
    assert!(of_coroutines.contains("    async def refund(\n"), "{of_coroutines}");
    assert!(of_coroutines.contains("cast(RefundResult, await self._call(\"refund\", {"), "{of_coroutines}");
}

#[test]
fn what_hints_cannot_say_is_any_and_never_narrower() {
    let hints = [
        (json!(true), "Any"),
        (json!({}), "Any"),
        (json!({"type": "object"}), "dict[str, Any]"),
        (
            json!({"type": "object", "properties": {"a": {}}, "additionalProperties": {"type": "string"}}),
            "dict[str, Any]",
        ),
        (json!({"type": "object", "patternProperties": {"^x": {}}}), "dict[str, Any]"),
        (json!({"type": "array"}), "list[Any]"),
        (json!({"type": "array", "prefixItems": [{"type": "string"}], "items": false}), "list[str]"),
        (json!({"type": "array", "prefixItems": [{"type": "string"}]}), "list[Any]"),
        (json!({"anyOf": [{"type": "null"}, {"type": "string"}, {"type": "string"}]}), "str | None"),
        (json!({"oneOf": [{"type": "integer"}, true]}), "Any"),
        (json!({"allOf": [{"minimum": 1}, {"type": "integer"}]}), "int"),
        (json!({"enum": [1.5, true, "a\"", []]}), "Literal[True, \"a\\\"\"] | float | list[Any]"),
        (json!({"enum": [i64::MIN, u64::MAX, -7]}), "Literal[-7] | int"),
        (json!({"$ref": "https://example.com/a"}), "Any"),
        (json!({"$ref": "#/properties/it"}), "Any"),
        (json!({"type": "wrong", "enum": 3}), "Any"),
    ];
    for (schema, expected) in hints {
        let input = object(&json!({"it": schema}), &["it"]);
        let module = module(vec![tool("try", input, json!(true))]);
        assert!(module.contains(&format!("        it: {expected},\n")), "{expected}: {module}");
    }
}

#[test]
fn hostile_names_and_words_stay_names_and_words() {
    let words = "\"\"\"\nimport os\r# type: ignore \\\u{2028}x\u{202e}\0\"";
    let member = json!({"type": "string", "description": words, "enum": [words]});
    let names = ["self", "def", "a\"]; import os #", "\n", "größe", "__x", "_OMITTED", "Tools", "", "dict"];
    let properties: Value = names.iter().map(|name| ((*name).to_owned(), member.clone())).collect();
    let hostile = Tool {
        description: words.to_owned(),
        ..tool("class", object(&properties, &[]), object(&properties, &[]))
    };
    let other = tool("1'; import os", json!(false), json!({"type": "object"}));
    let module = module(vec![hostile, other]);
    assert!(
        !module.contains(|it: char| it != '\n' && it.is_control() || it == '\u{202e}' || it == '\u{2028}')
    );
    let outside: String = module.split("\"\"\"").step_by(2).collect();
    let is_code = |line: &str| line.starts_with("import os") || line.starts_with("# type");
    assert!(
        module.contains("import os") && !outside.lines().any(|line| is_code(line.trim_start())),
        "{module}"
    );
    for expected in [
        "    def class_(\n",
        "    def arg_1___import_os_(\n",
        "        self_: Literal[",
        "        def_: Literal[",
        "        dict_: Literal[",
        "        arg_OMITTED_: Literal[",
        "        arg_Tools_: Literal[",
        "            \"a\\\"]; import os #\": a____import_os_,\n",
        "class_(",
        "    \"\\n\": \"NotRequired[",
    ] {
        assert!(module.contains(expected), "{expected}: {module}");
    }
}

#[test]
fn depth_and_width_have_an_end() {
    let wide: Value = (0..300).map(|number| (format!("p{number}"), json!({"type": "string"}))).collect();
    let deep =
        (0..1_000).fold(json!({"type": "string"}), |items, _| json!({"type": "array", "items": items}));
    let twice = json!({"anyOf": [{"$ref": "#/$defs/a"}, {"type": "array", "items": {"$ref": "#/$defs/a"}}]});
    let mut around = object(&json!({"a": {"$ref": "#/$defs/a"}}), &[]);
    around["$defs"] = json!({"a": twice});
    let mut doubled = object(&json!({"it": {"$ref": "#/$defs/0"}}), &[]);
    let two = |number: u32| {
        let next = json!({"$ref": format!("#/$defs/{}", number + 1)});
        (number.to_string(), json!({"anyOf": [next, {"type": "array", "items": next}]}))
    };
    doubled["$defs"] = (0..25).map(two).collect();
    doubled["$defs"]["25"] = json!({"type": "string"});
    let module = module(vec![
        tool("doubled", doubled, json!({})),
        tool("wide", object(&wide, &[]), json!({})),
        tool("deep", object(&json!({"it": deep}), &[]), json!({})),
        tool("round", json!({}), around),
    ]);
    assert!(module.contains("        p299: str = _OMITTED,\n") && module.contains(": NotRequired[Any]\n"));
    assert!(module.contains(&format!("        it: {}Any{}", "list[".repeat(64), "]".repeat(64))), "{module}");
    assert!(module.contains("        it: Any = _OMITTED,\n"), "{module}");
}
