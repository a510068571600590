//! Lists tools for a planner's system prompt. Advice on their use is in `guidance`.

use std::sync::Arc;

use super::assemble::RegisteredTool;
use crate::registry::parts::Status;

/// One line `- name: description` for each tool that can be called, sorted by name.
pub fn describe_for_planner<'a>(tools: impl IntoIterator<Item = &'a Arc<RegisteredTool>>) -> String {
    let is_callable = |tool: &&Arc<RegisteredTool>| !matches!(tool.definition.status, Status::Disabled(_));
    let mut tools: Vec<_> = tools.into_iter().filter(is_callable).map(|tool| &tool.definition).collect();
    if tools.is_empty() {
        return "No tools are currently available.".to_owned();
    }
    // Usually sorted already, which the sort detects in linear time.
    tools.sort_by(|left, right| left.name.cmp(&right.name));
    tools.iter().map(|definition| definition.line()).collect::<Vec<_>>().join("\n")
}
