//! `toolwire list`: the tools, one a line, those of a provider or a domain below its name.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::Value;

use super::{
    connection::Connection,
    json,
    table::{Table, wrap},
    words,
};
use toolwire_base::words::visible;
use toolwire_contract::proto::v1;
use toolwire_server::{
    client,
    console::{self, Failure},
    domain::Domain,
};

/// Lists the tools: those of providers first, the bundled samples last
#[derive(Debug, Args)]
pub(super) struct List {
    /// Lists only tools whose name, title, description, tags or questions contain all of these words
    #[arg(long, value_name = "WORDS", default_value = "", hide_default_value = true)]
    search: String,
    /// Lists only tools with this tag; several must all match
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Prints the complete definitions as a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: Connection,
}

impl List {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let view = if self.json { v1::ToolView::FullJson } else { v1::ToolView::Basic };
        let backend = self.connection.open(domains).await?;
        let tools = backend.list(&self.tag, &self.search, view).await;
        let tools = tools.map_err(|status| client::refusal(&status))?;
        if self.json {
            return console::json_pretty(&tools.iter().map(json::definition).collect::<Value>());
        }
        if tools.is_empty() {
            let is_filtered = !self.tag.is_empty() || !self.search.is_empty();
            console::say(if is_filtered {
                "no such tools; without --tag and --search every tool that you may call is listed"
            } else if self.connection.is_identified(domains)? {
                // The same whether or not there are any.
                "you may call none of the tools here; ask an operator for access"
            } else {
                "no tools yet; docs/OWN_TOOLS.md says how to serve a function of yours"
            });
            return Ok(());
        }
        print(&tools)?;
        if tools.iter().any(|tool| tool.sample) {
            console::say("");
            for line in wrap(OWN, console::width().unwrap_or(usize::MAX)) {
                console::say(&line);
            }
        }
        Ok(())
    }
}

/// Below samples.
const OWN: &str = "Samples show what tools are like; docs/OWN_TOOLS.md says how to serve your own.";

/// Where a tool is listed: those of providers, those of domains, samples; by name. Of a server that says neither,
/// under no heading.
fn group(tool: &v1::ToolDefinition) -> (bool, bool, &str) {
    if tool.provider.is_empty() { (tool.sample, true, &tool.domain) } else { (false, false, &tool.provider) }
}

fn print(tools: &[v1::ToolDefinition]) -> Result<(), Failure> {
    for (heading, rows) in groups(tools, console::width()) {
        if !heading.is_empty() {
            console::heading(&heading)?;
        }
        console::print(&rows.join("\n"))?;
    }
    Ok(())
}

/// The heading of each group and its lines. The columns of all are as wide.
fn groups(tools: &[v1::ToolDefinition], width: Option<usize>) -> Vec<(String, Vec<String>)> {
    let mut groups: BTreeMap<_, Vec<String>> = BTreeMap::new();
    let indent = if tools.iter().all(|tool| group(tool).2.is_empty()) { "" } else { "  " };
    let (_, blocks) = Table::new(tools.iter().map(row)).blocks(indent, width);
    for (tool, lines) in tools.iter().zip(blocks) {
        groups.entry(group(tool)).or_default().extend(lines);
    }
    let with_heading = |((is_sample, is_own, name), lines): ((bool, bool, &str), _)| {
        let what = match (is_sample, is_own) {
            (true, _) => " (samples)",
            (false, false) => " (provider)",
            (false, true) => "",
        };
        (if name.is_empty() { String::new() } else { format!("{}{what}", visible(name)) }, lines)
    };
    groups.into_iter().map(with_heading).collect()
}

fn row(tool: &v1::ToolDefinition) -> [String; 3] {
    [visible(&tool.name), words::category(tool.category()), visible(&title(tool))]
}

fn title(tool: &v1::ToolDefinition) -> String {
    match tool.status.as_ref().map(|status| (status.state(), &status.reason)) {
        Some((state @ (v1::ToolState::Degraded | v1::ToolState::Disabled), reason)) => {
            format!("{} ({}: {reason})", tool.title, words::state(state))
        }
        _ => tool.title.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, category: v1::ToolCategory, state: v1::ToolState) -> v1::ToolDefinition {
        let status = v1::ToolStatus { state: state.into(), reason: "no quotes".to_owned() };
        v1::ToolDefinition {
            name: name.to_owned(),
            title: "Title".to_owned(),
            category: category.into(),
            status: Some(status),
            ..Default::default()
        }
    }

    #[test]
    fn a_tool_that_is_not_ready_says_why() {
        let tools = [
            tool("get_quotes", v1::ToolCategory::Read, v1::ToolState::Degraded),
            tool("x", v1::ToolCategory::SideEffect, v1::ToolState::Ready),
        ];
        let lines =
            ["get_quotes  read         Title (degraded: no quotes)", "x           side_effect  Title"];
        assert_eq!(groups(&tools, None), [(String::new(), Vec::from(lines.map(str::to_owned)))]);
    }

    #[test]
    fn a_title_is_no_line_of_another_tool() {
        let title = "Title\nget_quotes  read  Title".to_owned();
        let tools = [v1::ToolDefinition { title, ..tool("x", v1::ToolCategory::Read, v1::ToolState::Ready) }];
        let lines = [r"x  read  Title\nget_quotes  read  Title".to_owned()];
        assert_eq!(groups(&tools, None)[0].1, lines);
    }

    #[test]
    fn own_tools_come_before_samples_each_under_its_heading() {
        let of = |name: &str, provider: &str, domain: &str, sample: bool| v1::ToolDefinition {
            provider: provider.to_owned(),
            domain: domain.to_owned(),
            sample,
            ..tool(name, v1::ToolCategory::Read, v1::ToolState::Ready)
        };
        let tools = [
            of("ask", "", "toys", true),
            of("check", "", "spins", false),
            of("order_status", "shop", "", false),
            of("quote", "", "kiosks", true),
            of("refund", "shop", "", false),
        ];
        let groups = groups(&tools, None);
        let shown: Vec<_> = groups.iter().map(|(heading, lines)| (heading.as_str(), lines.len())).collect();
        let expected = [("shop (provider)", 2), ("spins", 1), ("kiosks (samples)", 1), ("toys (samples)", 1)];
        assert_eq!(shown, expected);
        assert_eq!(groups[0].1, ["  order_status  read  Title", "  refund        read  Title"]);
        assert_eq!(groups[3].1, ["  ask           read  Title"]);
    }
}
