//! `debug_write`: a write that records what it did, so that a repeat or a half can be seen.

use tokio::time::sleep;

use super::{counts::Counts, or_zero, provenance, stop_record::StopRecord};
use crate::proto::v1::{DebugWriteInput, DebugWriteOutput};
use toolwire_base::clock;
use toolwire_contract::convert;
use toolwire_tool::{
    Reply, Tool,
    context::{ToolContext, Unfinished},
};

/// Counts the writes of each user.
#[derive(Debug, Default)]
pub struct DebugWrite {
    writes: Counts,
}

impl Tool for DebugWrite {
    const NAME: &'static str = "debug_write";
    type Input = DebugWriteInput;
    type Output = DebugWriteOutput;

    async fn execute(
        &self,
        input: DebugWriteInput,
        context: &ToolContext,
    ) -> Result<Reply<DebugWriteOutput>, Unfinished> {
        let record = StopRecord::begin(Self::NAME, context);
        sleep(or_zero(input.duration)).await;
        record.wrote(context);
        let data = DebugWriteOutput {
            value: input.value.unwrap_or_default(),
            writes: self.writes.count(&context.user.id),
            written_at: Some(convert::timestamp(clock::wall())),
        };
        record.complete();
        Ok(Reply { data, provenance: provenance() })
    }
}
