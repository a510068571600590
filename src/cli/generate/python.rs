//! Typed clients in Python: a class for `Toolwire` and one for `AsyncToolwire`, with a method for each tool.
//!
//! Pure: the same catalogue gives the same text. Names and words of tools may be hostile, since they come from a
//! server: whatever they are, they become identifiers, literals and docstrings, and nothing else. Not here: the file.

mod method;
mod names;
mod text;
mod types;

use std::fmt::Write as _;

use self::{method::Method, names::Names, types::Types};
use super::catalogue::Catalogue;

/// What the names of our own are, which no class of a tool may have.
const RESERVED: [&str; 9] = [
    "Any",
    "AsyncToolwire",
    "AsyncTools",
    "Literal",
    "None",
    "NotRequired",
    "Tools",
    "Toolwire",
    "TypedDict",
];

/// The module.
pub(super) fn render(catalogue: &Catalogue) -> String {
    let mut types = Types::new(Names::new(RESERVED));
    let names = names::methods(catalogue.tools.iter().map(|tool| tool.name.as_str()));
    let tools = catalogue.tools.iter().zip(names);
    let methods: Vec<_> = tools.map(|(tool, name)| Method::new(tool, name, &mut types)).collect();
    let mut text = head(catalogue, &types);
    for class in types.classes() {
        let _ = write!(text, "\n\n{class}");
    }
    for is_async in [false, true] {
        let _ = write!(text, "\n\n{}", class(&methods, is_async));
    }
    text
}

fn head(catalogue: &Catalogue, types: &Types) -> String {
    let Catalogue { tools, command, digest } = catalogue;
    let command = text::comment(command).trim_start_matches("toolwire generate ").to_owned();
    let count = if tools.len() == 1 { "1 tool".to_owned() } else { format!("{} tools", tools.len()) };
    let (sys, not_required) = if types.has_optional() { ("import sys\n", NOT_REQUIRED) } else { ("", "") };
    let literal = if types.has_literals() { "Literal, " } else { "" };
    let typed_dict = if types.has_classes() { "TypedDict, " } else { "" };
    format!(
        "{MADE_BY}{command}`: make it again instead of editing it.\n\
         # It has {count}, whose definitions have the digest {digest}.\n\
         # ruff: noqa\n\
         # fmt: off\n\
         \"\"\"The tools of a server of Toolwire, typed: `Tools(Toolwire.connect())`, or in an event loop\n\
         `AsyncTools(AsyncToolwire.connect())`. A method returns the data of a call, and raises what `Toolwire.call` does. A\n\
         parameter that is left out is not sent.\n\
         \"\"\"\n\
         \n\
         from __future__ import annotations\n\
         \n\
         {sys}from typing import Any, {literal}{typed_dict}cast\n\
         \n\
         from toolwire import AsyncToolwire, Toolwire\n\
         {not_required}\n\
         _OMITTED: Any = ...\n"
    )
}

/// How a module begins, by which it is known as one that may be written again.
pub(super) const MADE_BY: &str = "# Made by `toolwire generate ";

const NOT_REQUIRED: &str = "
if sys.version_info >= (3, 11):
    from typing import NotRequired
else:
    from typing_extensions import NotRequired
";

/// The client of one kind, with all methods.
fn class(methods: &[Method], is_async: bool) -> String {
    let (name, client, define, wait) = if is_async {
        ("AsyncTools", "AsyncToolwire", "async def", "await ")
    } else {
        ("Tools", "Toolwire", "def", "")
    };
    let mut text = format!(
        "class {name}:\n    \
             \"\"\"The tools, by a client that the caller closes.\"\"\"\n\
         \n    \
             def __init__(self, client: {client}) -> None:\n        \
                 self._client = client\n\
         \n    \
             {define} _call(\n        \
                 self, tool: str, arguments: dict[str, Any],\n        \
                 request_id: str, task_id: str, wait_for_approval: float, timeout: float,\n    \
             ) -> Any:\n        \
                 given = {{name: value for name, value in arguments.items() if value is not _OMITTED}}\n        \
                 result = {wait}self._client.call(\n            \
                     tool, given, request_id=request_id, task_id=task_id,\n            \
                     wait_for_approval=wait_for_approval, timeout=timeout,\n        \
                 )\n        \
                 return result.data\n"
    );
    for method in methods {
        let _ = write!(text, "\n{}", method.render(define, wait));
    }
    text
}

#[cfg(test)]
mod tests;
