//! Lists tools for a planner's system prompt. Advice on their use is in `guidance`.

mod signature;

use std::sync::Arc;

use super::assemble::RegisteredTool;
use crate::registry::parts::Status;

/// How much a list of tools says of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Name and description.
    #[default]
    Line,
    /// The parameters too, on a second line.
    Parameters,
}

/// One line `- name: description` for each tool that can be called, sorted by name; with [`Detail::Parameters`] a line
/// `  Parameters: …` behind it.
pub fn describe_for_planner<'a>(
    tools: impl IntoIterator<Item = &'a Arc<RegisteredTool>>,
    detail: Detail,
) -> String {
    let is_callable = |tool: &&Arc<RegisteredTool>| !matches!(tool.definition.status, Status::Disabled(_));
    let mut tools: Vec<_> = tools.into_iter().filter(is_callable).map(|tool| &tool.definition).collect();
    if tools.is_empty() {
        return "No tools are currently available.".to_owned();
    }
    // Usually sorted already, which the sort detects in linear time.
    tools.sort_by(|left, right| left.name.cmp(&right.name));
    if detail == Detail::Line {
        return tools.iter().map(|definition| definition.line()).collect::<Vec<_>>().join("\n");
    }
    let lines = tools.iter().map(|definition| {
        format!("{}\n  Parameters: {}", definition.line(), signature::parameters(&definition.input_schema))
    });
    lines.collect::<Vec<_>>().join("\n")
}
