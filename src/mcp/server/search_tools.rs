//! How the four tools are declared to clients that are not listed the others. Not here: what becomes of their calls
//! (`search`).

use std::sync::LazyLock;

use rmcp::model::Tool;
use serde_json::{Value, json};

pub(super) const FIND: &str = "find_tools";
pub(super) const DESCRIBE: &str = "describe_tool";
pub(super) const CALL_READ: &str = "call_read_tool";
pub(super) const CALL: &str = "call_tool";

/// The number of tools that are shown unless a model asks for another one.
pub(super) const DEFAULT_LIMIT: usize = 10;
/// Maximum number of tools that are shown.
pub(super) const MAX_LIMIT: usize = 50;

/// Instructions to a model, before the guidance on the tools.
pub(super) const INSTRUCTIONS: &str = "The tools are not listed. Find one by find_tools, read its description and its \
                                       input schema by describe_tool, and call it by call_read_tool if it only reads, \
                                       or else by call_tool.";

/// The list that a client gets.
pub(super) fn tools() -> Vec<Tool> {
    static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
        serde_json::from_value(declarations()).expect("the declarations are those of tools")
    });
    TOOLS.clone()
}

fn declarations() -> Value {
    let name = json!({"type": "string", "description": "The name of the tool, as find_tools says it."});
    let arguments = json!({
        "type": "object",
        "description": "The arguments of that tool, by the input schema that describe_tool says.",
    });
    let call = object(json!({"name": name, "arguments": arguments}), &["name"]);
    // A client's "always allow" of reads covers no write.
    let reads = |open| json!({"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": open});
    let writes = json!({"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true});
    json!([
        {
            "name": CALL_READ,
            "title": "Call a tool that only reads",
            "description": "Calls a tool that only reads, such as one that find_tools says to be read_only. Any other is \
                            refused: call it by call_tool.",
            "inputSchema": call,
            "annotations": reads(true),
        },
        {
            "name": CALL,
            "title": "Call a tool",
            "description": "Calls any tool, also one that changes something. Read its description by describe_tool \
                            first. A person may have to approve the call; the answer then says how to go on.",
            "inputSchema": call,
            "annotations": writes,
        },
        {
            "name": DESCRIBE,
            "title": "Describe a tool",
            "description": "What a tool does, when to use it, and the schema of its arguments.",
            "inputSchema": object(json!({"name": name}), &["name"]),
            "annotations": reads(false),
        },
        {
            "name": FIND,
            "title": "Find tools",
            "description": "Finds the tools that fit some words, the best first: their names, what they do, and whether \
                            they only read. Use it before anything else.",
            "inputSchema": object(
                json!({
                    "query": {
                        "type": "string",
                        "maxLength": 256,
                        "description": "Words of what is to be done, such as `order status`. Empty for all tools.",
                    },
                    "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
                }),
                &["query"],
            ),
            "annotations": reads(false),
        },
    ])
}

#[allow(clippy::needless_pass_by_value, reason = "made where it is used")]
fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}
