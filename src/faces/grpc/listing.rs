//! Discovery: what this user may call, and nothing else.

use std::sync::Arc;

use futures_util::{Stream, stream};
use tonic::Status;

use super::{face::Face, incoming, limits};
use crate::{
    context::User,
    contract::{
        Refusal,
        proto::v1::{
            DescribeForPlannerResponse, ListToolsRequest, ListToolsResponse, SourceLimit, ToolCategory,
            ToolDefinition, ToolType, ToolView,
        },
    },
    registry::{self, RegisteredTool},
};

/// The definitions that pass the filter, in order of name.
pub(super) fn list(
    face: &Face,
    user: &User,
    request: &ListToolsRequest,
) -> impl Stream<Item = Result<ListToolsResponse, Status>> + use<> {
    let view = request.view();
    let mut tools = visible(face, user);
    tools.retain(|tool| passes(tool, request));
    stream::iter(
        tools
            .into_iter()
            .map(move |tool| Ok(ListToolsResponse { tool: Some(tool.definition.wire(view).clone()) })),
    )
}

/// One definition.
pub(super) fn get(face: &Face, user: &User, name: &str, view: ToolView) -> Result<ToolDefinition, Refusal> {
    if name.is_empty() {
        return Err(incoming::refuse(
            "name",
            "required",
            "must name a tool; ListTools lists what you may call",
        ));
    }
    if !face.policy.may_call(user, name) {
        return Err(Refusal::PermissionDenied { tool: name.to_owned() });
    }
    let tools = visible(face, user);
    if let Some(tool) = tools.iter().find(|tool| tool.definition.name == name) {
        return Ok(tool.definition.wire(view).clone());
    }
    let near = registry::near(name, tools.iter().map(|tool| tool.definition.name.as_str()));
    Err(Refusal::UnknownTool { name: name.to_owned(), near })
}

/// Text for a planner's system prompt.
pub(super) fn describe(face: &Face, user: &User, tags: Vec<String>) -> DescribeForPlannerResponse {
    let request = ListToolsRequest { tags, ..ListToolsRequest::default() };
    let mut tools = visible(face, user);
    tools.retain(|tool| passes(tool, &request));
    DescribeForPlannerResponse {
        tools: registry::describe_for_planner(&tools),
        guidance: registry::guidance_for_planner(&tools, &face.limits.budgets()),
    }
}

/// One row for each source that the user's tools read from.
pub(super) async fn limits(face: &Face, user: &User, only: &str) -> Result<Vec<SourceLimit>, Refusal> {
    let tools = visible(face, user);
    let mut sources = limits::sources(&tools);
    if !only.is_empty() && !sources.contains(only) {
        let known = Vec::from_iter(sources).join(", ");
        return Err(incoming::refuse("source", "enum", &format!("must be one of: {known}")));
    }
    sources.retain(|source| only.is_empty() || *source == only);
    Ok(limits::rows(&*face.limits, &user.id, sources).await)
}

fn visible(face: &Face, user: &User) -> Vec<Arc<RegisteredTool>> {
    let snapshot = face.registry.snapshot();
    let may_call = |tool: &&Arc<RegisteredTool>| face.policy.may_call(user, &tool.definition.name);
    snapshot.tools().filter(may_call).cloned().collect()
}

fn passes(tool: &RegisteredTool, request: &ListToolsRequest) -> bool {
    let definition = tool.definition.wire(ToolView::Full);
    request.tags.iter().all(|tag| definition.tags.contains(tag))
        && (request.category() == ToolCategory::Unspecified || request.category() == definition.category())
        && (request.r#type() == ToolType::Unspecified || request.r#type() == definition.r#type())
        && (request.text.is_empty() || mentions(definition, &request.text))
}

/// Whether every word of the query occurs in what describes the tool, ignoring case.
fn mentions(definition: &ToolDefinition, query: &str) -> bool {
    let ToolDefinition { name, title, description, tags, utterances, .. } = definition;
    let text = format!("{name}\n{title}\n{description}\n{}\n{}", tags.join("\n"), utterances.join("\n"));
    let text = text.to_lowercase();
    query.split_whitespace().all(|word| text.contains(&word.to_lowercase()))
}
