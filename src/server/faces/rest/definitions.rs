//! Definitions of tools as JSON, each serialised once for as long as it is served: lists and watches send the same
//! bytes.

use std::sync::Arc;

use bytes::Bytes;

use super::message;
use toolwire_base::offload;
use toolwire_contract::proto::v1::ToolView;
use toolwire_engine::registry::{Definition, RegisteredTool};

/// The JSON of a definition. The first time is expensive: call [`serialise`] before.
pub(super) fn json(definition: &Definition, view: ToolView) -> Bytes {
    let serialised = || message::of(&definition.wire(view)).to_string().into();
    definition.json(view).get_or_init(serialised).clone()
}

/// Serialises the definitions that are not cached yet, under a permit of the user's if they are large.
pub(super) async fn serialise(tools: &[Arc<RegisteredTool>], view: ToolView) {
    let is_missing = |tool: &&Arc<RegisteredTool>| tool.definition.json(view).get().is_none();
    let missing: Vec<_> = tools.iter().filter(is_missing).cloned().collect();
    let bytes = missing.iter().map(|tool| tool.definition.encoded(view).len()).sum();
    let work = move || missing.iter().for_each(|tool| drop(json(&tool.definition, view)));
    offload::if_large(bytes, work).await;
}
