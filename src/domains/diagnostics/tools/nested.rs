//! `debug_nested`: calls itself through the pipeline and reports what each level had left.

use tokio::time::sleep;

use super::{or_zero, provenance, stop_record::StopRecord};
use crate::proto::v1::{DebugNestedInput, DebugNestedLevel, DebugNestedOutput};
use toolwire_contract::convert;
use toolwire_tool::{
    self as tool, Reply, Tool,
    context::{ToolContext, Unfinished},
};

/// Calls itself to a given depth.
#[derive(Clone, Copy, Debug)]
pub struct DebugNested;

impl Tool for DebugNested {
    const NAME: &'static str = "debug_nested";
    type Input = DebugNestedInput;
    type Output = DebugNestedOutput;

    async fn execute(
        &self,
        input: DebugNestedInput,
        context: &ToolContext,
    ) -> Result<Reply<DebugNestedOutput>, Unfinished> {
        let record = StopRecord::begin(Self::NAME, context);
        let mut levels = vec![level(context)];
        let below = input.depth.unwrap_or(1) - 1;
        if below > 0 {
            let input = DebugNestedInput { depth: Some(below), ..input };
            levels.extend(tool::call::<Self>(&input, context).await?.data.levels);
        } else {
            sleep(or_zero(input.duration)).await;
        }
        record.complete();
        Ok(Reply { data: DebugNestedOutput { levels }, provenance: provenance() })
    }
}

fn level(context: &ToolContext) -> DebugNestedLevel {
    DebugNestedLevel {
        call_id: context.call_id.to_string(),
        parent_call_id: context.parent_call_id.map(|id| id.to_string()).unwrap_or_default(),
        remaining: Some(convert::duration(context.remaining())),
    }
}
