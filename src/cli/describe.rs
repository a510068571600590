//! `toolwire describe`: one tool, in readable form.

use std::{fmt::Write, time::Duration};

use clap::Args;
use serde_json::Value;

use super::{connection::Connection, explain, json, schema, table, table::Table, words};
use toolwire_base::{
    clock,
    words::{shell, visible},
};
use toolwire_contract::{json::from_struct, proto::v1};
use toolwire_server::{
    console::{self, Failure},
    domain::Domain,
};

/// Describes a tool: what it does, what it takes and returns, how it is called
#[derive(Debug, Args)]
pub(super) struct Describe {
    /// The tool's name, as `toolwire list` shows it
    #[arg(value_name = "TOOL")]
    tool: String,
    /// Prints the complete definition as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: Connection,
}

impl Describe {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let backend = self.connection.open(domains).await?;
        let tool = backend.describe(&self.tool).await;
        let tool = tool.map_err(|status| explain::no_definition(&status, &self.tool, &backend, domains))?;
        if self.json {
            return console::json_pretty(&json::definition(&tool));
        }
        let width = console::width();
        for line in render(&tool, width).lines() {
            if line.starts_with(&*tool.name) || SECTIONS.contains(&line) {
                console::heading(line)?;
                continue;
            }
            let parts = match width {
                Some(width) if !line.starts_with(' ') => table::wrap(line, width),
                // Rows and commands are indented, and stay as they are.
                _ => vec![line.to_owned()],
            };
            for part in parts {
                console::line(&part)?;
            }
        }
        Ok(())
    }
}

/// The headings.
const SECTIONS: [&str; 3] = ["Parameters", "Returns", "Examples"];

fn render(tool: &v1::ToolDefinition, width: Option<usize>) -> String {
    let (title, facts) = (visible(&tool.title), visible(&facts(tool)));
    let mut text = format!("{}  {title}\n{facts}\n\n{}\n", tool.name, tool.description);
    let [parameters, returns, examples] = SECTIONS;
    let rows = schema::rows(&schema::parse(&tool.input_schema_json));
    section(&mut text, parameters, &Table::new(rows).render("  ", width), "  none\n");
    let rows = schema::rows(&schema::parse(&tool.output_schema_json)).into_iter().map(output_row);
    section(&mut text, returns, &Table::new(rows).render("  ", width), "  an object of its own shape\n");
    if !tool.examples.is_empty() {
        let commands: String = tool.examples.iter().map(|it| example(&tool.name, it)).collect();
        section(&mut text, examples, &commands, "");
    }
    text
}

/// The effects of a call, on one line.
fn facts(tool: &v1::ToolDefinition) -> String {
    let mut facts = vec![
        words::category(tool.category()),
        format!("{} consequence", words::consequence(tool.consequence_level())),
        format!("version {}", tool.version),
    ];
    facts.extend(tool.requires_confirmation.then(|| "needs a person's confirmation".to_owned()));
    facts.extend(
        (!tool.approve_unless.is_empty())
            .then(|| format!("needs a person's confirmation unless {}", tool.approve_unless)),
    );
    facts.extend(tool.timeout.as_ref().map(|timeout| {
        let timeout = Duration::try_from(*timeout).unwrap_or_default();
        format!("at most {}", clock::exact_in_words(timeout))
    }));
    facts.extend((!tool.tags.is_empty()).then(|| format!("tags {}", tool.tags.join(", "))));
    facts.extend((!tool.intents.is_empty()).then(|| format!("intents {}", tool.intents.join(", "))));
    facts.join(" · ")
}

/// Without `required`: a returned field is always present.
fn output_row([path, kind, _, description]: [String; 4]) -> [String; 3] {
    [path, kind, description]
}

fn section(text: &mut String, title: &str, body: &str, empty: &str) {
    let body = if body.is_empty() { empty } else { body };
    let _ = write!(text, "\n{title}\n{body}");
}

fn example(tool: &str, example: &v1::ToolExample) -> String {
    let arguments = from_struct(example.arguments.clone().unwrap_or_default());
    let pairs = arguments.iter().map(|(key, value)| format!("{key}={}", word(value)));
    let call: Vec<_> = [format!("toolwire call {tool}")].into_iter().chain(pairs).collect();
    let comment =
        if example.description.is_empty() { String::new() } else { format!("  # {}\n", example.description) };
    format!("{comment}  {}\n", call.join(" "))
}

/// A value as a shell takes it.
fn word(value: &Value) -> String {
    shell(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use toolwire_contract::json::to_struct;

    #[test]
    fn a_description_reads_from_top_to_bottom() {
        let arguments = json!({"symbol": "AAPL", "note": "it's a test"});
        let tool = v1::ToolDefinition {
            name: "get_quotes".to_owned(),
            title: "Quotes".to_owned(),
            description: "Returns the latest price.".to_owned(),
            category: v1::ToolCategory::Read.into(),
            consequence_level: v1::ConsequenceLevel::Low.into(),
            version: "1.0.0".to_owned(),
            input_schema_json: json!({
                "properties": {"symbol": {"type": "string", "description": "Ticker."}}, "required": ["symbol"]
            })
            .to_string(),
            output_schema_json:
                json!({"properties": {"price": {"type": "number", "description": "In USD."}}}).to_string(),
            examples: vec![v1::ToolExample {
                description: "One quote".to_owned(),
                arguments: arguments.as_object().map(to_struct),
            }],
            ..Default::default()
        };
        let expected = "\
get_quotes  Quotes
read · low consequence · version 1.0.0

Returns the latest price.

Parameters
  symbol  string  required  Ticker.

Returns
  price  number  In USD.

Examples
  # One quote
  toolwire call get_quotes note='it'\\''s a test' symbol=AAPL
";
        assert_eq!(render(&tool, None), expected);
    }
}
