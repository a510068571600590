//! Finds tools by words: the more of them a tool mentions, the earlier it comes.

use std::{cmp::Reverse, collections::BTreeMap};

use prost::Message;
use rmcp::{ErrorData, model::CallToolResult};
use serde::Deserialize;
use serde_json::{Value, json};
use tonic::Status;

use super::super::{
    call_facts::CallFacts,
    handler::Handler,
    outcome,
    search_tools::{DEFAULT_LIMIT, MAX_LIMIT},
};
use toolwire_contract::proto::v1::{ListToolsRequest, ToolCategory, ToolDefinition, ToolState, ToolView};

/// The words of a query that count. Each is a list that the server makes.
const MAX_WORDS: usize = 8;
/// Shorter words stand in nearly every description. They count where there are no others.
const MIN_LENGTH: usize = 3;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Find {
    query: String,
    #[serde(default)]
    limit: Option<usize>,
}

impl Find {
    pub(super) async fn answer(self, handler: &Handler) -> Result<CallToolResult, ErrorData> {
        let limit = self.limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Ok(outcome::invalid_argument("/limit", &format!("limit must be 1 to {MAX_LIMIT}")));
        }
        match find(handler, &words(&self.query)).await {
            Ok(found) => Ok(outcome::structured(shown(&found, limit))),
            Err(status) => outcome::of_status(&status, &CallFacts::default()),
        }
    }
}

/// The tools that mention any of the words, the best first.
async fn find(handler: &Handler, words: &[String]) -> Result<Vec<ToolDefinition>, Status> {
    let mut found = BTreeMap::<String, (usize, ToolDefinition)>::new();
    for word in words {
        for tool in list(handler, word).await? {
            found.entry(tool.name.clone()).or_insert((0, tool)).0 += 1;
        }
    }
    let mut found: Vec<_> = found.into_values().collect();
    // Equally good ones stay in order of name.
    found.sort_by_key(|(mentions, _)| Reverse(*mentions));
    Ok(found.into_iter().map(|(_, tool)| tool).collect())
}

/// The tools that mention a word and can be called.
async fn list(handler: &Handler, word: &str) -> Result<Vec<ToolDefinition>, Status> {
    let request = ListToolsRequest {
        tags: handler.tags().to_vec(),
        text: word.to_owned(),
        view: ToolView::Basic.into(),
        ..ListToolsRequest::default()
    };
    let mut answers = handler.services.tools().list_tools(request).await?.into_inner();
    let mut tools = Vec::new();
    while let Some(answer) = answers.message().await? {
        let tool = ToolDefinition::decode(&*answer.tool)
            .map_err(|error| Status::internal(format!("a definition cannot be read: {error}")))?;
        let is_disabled = tool.status.as_ref().is_some_and(|status| status.state() == ToolState::Disabled);
        if !is_disabled {
            tools.push(tool);
        }
    }
    Ok(tools)
}

/// The words of a query that are looked for. One empty word, which every tool mentions, if there are none.
fn words(query: &str) -> Vec<String> {
    let all = query.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut words: Vec<_> = all.map(str::to_lowercase).collect();
    if words.iter().any(|word| word.chars().count() >= MIN_LENGTH) {
        words.retain(|word| word.chars().count() >= MIN_LENGTH);
    }
    words.sort_unstable();
    words.dedup();
    words.truncate(MAX_WORDS);
    if words.is_empty() { vec![String::new()] } else { words }
}

fn shown(found: &[ToolDefinition], limit: usize) -> Value {
    let tool = |tool: &ToolDefinition| {
        json!({
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "read_only": tool.category() == ToolCategory::Read,
        })
    };
    let tools: Vec<_> = found.iter().take(limit).map(tool).collect();
    let mut shown = json!({"tools": tools, "more": found.len().saturating_sub(limit)});
    if found.is_empty() {
        shown["advice"] =
            "No tool mentions any of these words: try others, or an empty query for all.".into();
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_looked_for_whatever_their_case_and_what_stands_between_them() {
        assert_eq!(words("Where is my Order, order-status?"), ["order", "status", "where"]);
        assert_eq!(words("a is"), ["a", "is"]);
        for nothing in ["", "  ", "?!"] {
            assert_eq!(words(nothing), [""]);
        }
        let long = (0..100).map(|number| format!("word{number:03}")).collect::<Vec<_>>().join(" ");
        assert_eq!(words(&long).len(), MAX_WORDS);
    }
}
