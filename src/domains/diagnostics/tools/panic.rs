//! `debug_panic`: panics where its input says.

use serde_json::json;

use super::stop_record::StopRecord;
use crate::proto::v1::{DebugPanicInput, DebugPanicOutput};
use toolwire_tool::{
    Reply, Tool,
    context::{ToolContext, Unfinished},
};

/// Panics before or after a first chunk.
#[derive(Clone, Copy, Debug)]
pub struct DebugPanic;

impl Tool for DebugPanic {
    const NAME: &'static str = "debug_panic";
    type Input = DebugPanicInput;
    type Output = DebugPanicOutput;

    #[allow(clippy::panic, reason = "what it is for")]
    async fn execute(
        &self,
        input: DebugPanicInput,
        context: &ToolContext,
    ) -> Result<Reply<DebugPanicOutput>, Unfinished> {
        let _record = StopRecord::begin(Self::NAME, context);
        if input.when.as_deref() == Some("stream") {
            let chunk = json!({"index": 0}).as_object().cloned().unwrap_or_default();
            context.events.chunk(chunk).await;
            // So that the chunk is on its way before the panic.
            tokio::task::yield_now().await;
        }
        panic!("debug_panic was asked to panic");
    }
}
