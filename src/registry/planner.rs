//! Tools as text for a planner's system prompt (spec 003). How to use them well is in `guidance`.

use std::{collections::BTreeMap, sync::Arc};

use super::assemble::RegisteredTool;
use crate::words::one_line;

/// One line `- name: description` for each tool, sorted by name.
pub fn describe_for_planner<'a>(tools: impl IntoIterator<Item = &'a Arc<RegisteredTool>>) -> String {
    let lines: BTreeMap<_, _> = tools
        .into_iter()
        .map(|tool| (tool.definition.name.as_str(), one_line(&tool.definition.description)))
        .collect();
    if lines.is_empty() {
        return "No tools are currently available.".to_owned();
    }
    lines.iter().map(|(name, description)| format!("- {name}: {description}")).collect::<Vec<_>>().join("\n")
}
