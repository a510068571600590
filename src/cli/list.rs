//! `toolwire list`: the tools, one a line.

use clap::Args;
use serde_json::Value;

use super::{connection::Connection, json, table::Table, words};
use toolwire_contract::proto::v1;
use toolwire_server::{
    client,
    console::{self, Failure},
    domain::Domain,
};

/// Lists the tools
#[derive(Debug, Args)]
pub(super) struct List {
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
        let tools = backend.list(&self.tag, view).await.map_err(|status| client::refusal(&status))?;
        if self.json {
            return console::json_pretty(&tools.iter().map(json::definition).collect::<Value>());
        }
        if tools.is_empty() {
            console::say("no tools; without --tag every tool that you may call is listed");
            return Ok(());
        }
        table(&tools).print()
    }
}

fn table(tools: &[v1::ToolDefinition]) -> Table<3> {
    Table::new(tools.iter().map(row))
}

fn row(tool: &v1::ToolDefinition) -> [String; 3] {
    [tool.name.clone(), words::category(tool.category()), title(tool)]
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
        let expected =
            "get_quotes  read         Title (degraded: no quotes)\nx           side_effect  Title\n";
        assert_eq!(table(&tools).render("", None), expected);
    }
}
