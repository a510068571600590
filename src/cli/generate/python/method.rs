//! The method of a tool: a parameter for each property of its arguments, and the options of a call.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{
    names, text,
    types::{Types, words},
};
use crate::generate::catalogue::Tool;

/// The options of a call, as `Toolwire.call` has them.
const OPTIONS: [(&str, &str); 4] = [
    ("request_id", "str = \"\""),
    ("task_id", "str = \"\""),
    ("wait_for_approval", "float = 0"),
    ("timeout", "float = 60"),
];

#[derive(Debug)]
pub(super) struct Method {
    name: String,
    /// Of the tool, as a literal.
    tool: String,
    parameters: Vec<Parameter>,
    result: String,
    /// The lines of its docstring.
    words: Vec<String>,
}

#[derive(Debug)]
struct Parameter {
    name: String,
    /// Of the property, as a literal.
    property: String,
    hint: String,
    is_required: bool,
}

impl Method {
    pub(super) fn new(tool: &Tool, name: String, types: &mut Types) -> Self {
        let class = names::class("", &tool.name);
        let none = Map::new();
        let properties = tool.input.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required = tool.input.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let parameter_names = names::parameters(properties.keys().map(String::as_str));
        let mut walk = types.walk(&tool.input);
        let parameters =
            properties.iter().zip(&parameter_names).map(|((property, schema), name)| Parameter {
                name: name.clone(),
                property: text::literal(property),
                hint: walk.hint(schema, &names::class(&class, property), 1),
                is_required: required.iter().any(|it| it == property),
            });
        let parameters: Vec<_> = parameters.collect();
        let result = types.walk(&tool.output).hint_of_root(&names::class(&class, "result"));
        let words = docstring(tool, properties.iter().zip(&parameter_names));
        Self { name, tool: text::literal(&tool.name), parameters, result, words }
    }

    /// The method of one class: `define` and `wait` are `def` and nothing, or what they are for coroutines.
    pub(super) fn render(&self, define: &str, wait: &str) -> String {
        let Self { name, tool, parameters, result, words } = self;
        let mut method = format!("    {define} {name}(\n        self,\n        *,\n");
        for Parameter { name, hint, is_required, .. } in parameters {
            let default = if *is_required { "" } else { " = _OMITTED" };
            let _ = writeln!(method, "        {name}: {hint}{default},");
        }
        for (name, hint) in OPTIONS {
            let _ = writeln!(method, "        {name}: {hint},");
        }
        let _ = writeln!(method, "    ) -> {result}:");
        method.push_str(&text::docstring(words, "        "));
        let (open, close) = match result.as_str() {
            // The cast would say nothing.
            "Any" => (String::new(), ""),
            result => (format!("cast({result}, "), ")"),
        };
        let _ = writeln!(method, "        return {open}{wait}self._call({tool}, {{");
        for Parameter { name, property, .. } in parameters {
            let _ = writeln!(method, "            {property}: {name},");
        }
        let options = OPTIONS.map(|(name, _)| name).join(", ");
        let _ = writeln!(method, "        }}, {options}){close}");
        method
    }
}

/// The words of a tool, and of its parameters in the form of Google.
fn docstring<'a>(
    tool: &Tool,
    parameters: impl Iterator<Item = ((&'a String, &'a Value), &'a String)>,
) -> Vec<String> {
    let mut lines = text::docstring_lines(&tool.description);
    if let Some(approval) = tool.approval {
        lines.extend([String::new(), approval.to_owned()]);
    }
    let mut of_parameters = Vec::new();
    for ((property, schema), name) in parameters {
        let renamed = if name == property { String::new() } else { format!("`{property}`. ") };
        let words = format!("{renamed}{}", words(schema));
        let mut words = text::docstring_lines(&words).into_iter();
        if let Some(first) = words.next() {
            of_parameters.push(format!("    {name}: {first}"));
        }
        of_parameters.extend(words.map(|line| format!("        {line}").trim_end().to_owned()));
    }
    if !of_parameters.is_empty() {
        lines.extend([String::new(), "Args:".to_owned()]);
        lines.extend(of_parameters);
    }
    let first = lines.iter().position(|line| !line.is_empty()).unwrap_or(lines.len());
    lines.split_off(first)
}
