//! Definitions of tools as JSON, each serialised once for as long as it is served: lists and watches send the same
//! bytes.

use std::sync::Arc;

use bytes::Bytes;

use super::message;
use toolwire_base::offload;
use toolwire_contract::proto::v1::ToolView;
use toolwire_engine::registry::{Definition, RegisteredTool};

/// The JSON of a definition. Costs much the first time: [`made`] does that in the user's turn.
pub(super) fn json(definition: &Definition, view: ToolView) -> Bytes {
    let spelled = || message::of(&definition.wire(view)).to_string().into();
    definition.json(view).get_or_init(spelled).clone()
}

/// Serialises the definitions that are not cached yet.
pub(super) async fn serialise(tools: &[Arc<RegisteredTool>], view: ToolView) {
    let is_missing = |tool: &&Arc<RegisteredTool>| tool.definition.json(view).get().is_none();
    let missing: Vec<_> = tools.iter().filter(is_missing).cloned().collect();
    let bytes = missing.iter().map(|tool| tool.definition.encoded(view).len()).sum();
    let work = move || missing.iter().for_each(|tool| drop(json(&tool.definition, view)));
    offload::if_large(bytes, work).await;
}
