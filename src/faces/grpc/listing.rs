//! Discovery, rendered: definitions in the wanted view, in order of name.

use futures_util::{Stream, StreamExt, stream};
use tonic::Status;

use super::face::Face;
use crate::{
    context::User,
    contract::{
        Refusal,
        proto::v1::{
            DescribeForPlannerResponse, ListToolsRequest, ListToolsResponse, ToolCategory, ToolDefinition,
            ToolType, ToolView,
        },
    },
    registry::{self, Category},
    service::{Filter, Guidance},
};

/// The definitions that pass the filter.
pub(super) fn list(
    face: &Face,
    user: &User,
    request: ListToolsRequest,
) -> impl Stream<Item = Result<ListToolsResponse, Status>> + use<> {
    let view = request.view();
    let tools = face.tools.list(user, &filter(request));
    stream::iter(tools)
        .map(move |tool| Ok(ListToolsResponse { tool: Some(tool.definition.wire(view).clone()) }))
}

/// One definition.
pub(super) fn get(face: &Face, user: &User, name: &str, view: ToolView) -> Result<ToolDefinition, Refusal> {
    Ok(face.tools.get(user, name)?.definition.wire(view).clone())
}

/// Text for a planner's system prompt.
pub(super) fn describe(face: &Face, user: &User, tags: Vec<String>) -> DescribeForPlannerResponse {
    let Guidance { tools, guidance } = face.tools.guidance(user, &Filter::tagged(tags));
    DescribeForPlannerResponse { tools, guidance }
}

fn filter(request: ListToolsRequest) -> Filter {
    let (category, kind) = (category(request.category()), kind(request.r#type()));
    Filter { tags: request.tags, category, kind, text: request.text }
}

/// `None` for any.
fn category(wire: ToolCategory) -> Option<Category> {
    Category::ALL.iter().copied().find(|category| ToolCategory::from(*category) == wire)
}

/// `None` for any.
fn kind(wire: ToolType) -> Option<registry::ToolType> {
    registry::ToolType::ALL.iter().copied().find(|kind| ToolType::from(*kind) == wire)
}
