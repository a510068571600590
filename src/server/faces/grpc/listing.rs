//! Discovery, rendered: definitions in the wanted view, in order of name.

use std::{iter, sync::Arc};

use bytes::Bytes;
use futures_util::{Stream, stream};
use tonic::Status;

use super::face::Face;
use crate::service::{Filter, Guidance, request};
use toolwire_contract::{
    Refusal,
    proto::v1::{
        DescribeForPlannerResponse, ListToolsRequest, ListToolsResponse, ToolCategory, ToolType, ToolView,
    },
};
use toolwire_engine::registry::{self, Category};
use toolwire_tool::context::User;

/// The definitions that pass the filter.
pub(super) fn list(
    face: &Face,
    user: &User,
    request: ListToolsRequest,
) -> Result<impl Stream<Item = Result<ListToolsResponse, Status>> + use<>, Refusal> {
    let view = request.view();
    let mut tools = face.tools.list(user, filter(request)?);
    let listed = move || {
        let tool = tools.next_tool()?.definition.encoded(view).clone();
        Some(Ok(ListToolsResponse { tool }))
    };
    Ok(stream::iter(iter::from_fn(listed)))
}

pub(super) fn get(face: &Face, user: &User, name: &str, view: ToolView) -> Result<Bytes, Refusal> {
    Ok(face.tools.get(user, name)?.definition.encoded(view).clone())
}

/// Text for a planner's system prompt.
pub(super) fn describe(
    face: &Face,
    user: &User,
    tags: Vec<String>,
) -> Result<DescribeForPlannerResponse, Refusal> {
    let filter = Filter::tagged(request::tags("tags", tags)?);
    let guidance = face.tools.guidance(user, filter);
    let part = |of: fn(&Guidance) -> &str| Bytes::from_owner(Part(Arc::clone(&guidance), of));
    Ok(DescribeForPlannerResponse { tools: part(|it| &it.tools), guidance: part(|it| &it.guidance) })
}

/// A part of a text that others read too.
struct Part(Arc<Guidance>, fn(&Guidance) -> &str);

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        self.1(&self.0).as_bytes()
    }
}

/// What passes the filter of a listing.
pub(in crate::faces) fn filter(listing: ListToolsRequest) -> Result<Filter, Refusal> {
    let (category, kind) = (category(listing.category()), kind(listing.r#type()));
    let filter = Filter { category, kind, ..Filter::tagged(request::tags("tags", listing.tags)?) };
    Ok(filter.with_words(request::search("text", &listing.text)?))
}

/// `None` for any.
fn category(wire: ToolCategory) -> Option<Category> {
    Category::ALL.iter().copied().find(|category| ToolCategory::from(*category) == wire)
}

/// `None` for any.
fn kind(wire: ToolType) -> Option<registry::ToolType> {
    registry::ToolType::ALL.iter().copied().find(|kind| ToolType::from(*kind) == wire)
}
