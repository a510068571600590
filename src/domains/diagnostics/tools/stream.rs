//! `debug_stream`: streams as many chunks as its input says.

use serde_json::{Map, Value, json};
use tokio::time::sleep;

use super::{or_zero, provenance, stop_record::StopRecord};
use crate::proto::v1::{DebugStreamInput, DebugStreamOutput};
use toolwire_tool::{
    Reply, Tool,
    context::{ToolContext, Unfinished},
};

/// Sends a given number of chunks, at a given pace.
#[derive(Clone, Copy, Debug)]
pub struct DebugStream;

impl Tool for DebugStream {
    const NAME: &'static str = "debug_stream";
    type Input = DebugStreamInput;
    type Output = DebugStreamOutput;

    async fn execute(
        &self,
        input: DebugStreamInput,
        context: &ToolContext,
    ) -> Result<Reply<DebugStreamOutput>, Unfinished> {
        let record = StopRecord::begin(Self::NAME, context);
        let count = input.count.unwrap_or_default();
        let text = "x".repeat(usize::try_from(input.bytes.unwrap_or_default()).unwrap_or_default());
        let interval = or_zero(input.interval);
        for index in 0..count {
            if index > 0 && !interval.is_zero() {
                sleep(interval).await;
            }
            context.events.chunk(chunk(index, &text)).await;
        }
        record.complete();
        let bytes = i64::from(count) * i64::from(input.bytes.unwrap_or_default());
        Ok(Reply { data: DebugStreamOutput { count, bytes }, provenance: provenance() })
    }
}

fn chunk(index: i32, text: &str) -> Map<String, Value> {
    Map::from_iter([("index".to_owned(), json!(index)), ("text".to_owned(), json!(text))])
}
