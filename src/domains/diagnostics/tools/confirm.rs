//! `debug_confirm`: a write that a person must approve first. It records what it did, so that one without approval or a
//! second one with the same can be seen.

use tokio::time::sleep;

use super::{counts::Counts, or_zero, provenance, stop_record::StopRecord};
use crate::proto::v1::{DebugConfirmInput, DebugConfirmOutput};
use toolwire_base::clock;
use toolwire_contract::convert;
use toolwire_tool::{
    Reply, Tool,
    context::{ToolContext, Unfinished},
};

/// Counts the approved writes of each user. That they are approved is the pipeline's work.
#[derive(Debug, Default)]
pub struct DebugConfirm {
    writes: Counts,
}

impl Tool for DebugConfirm {
    const NAME: &'static str = "debug_confirm";
    type Input = DebugConfirmInput;
    type Output = DebugConfirmOutput;

    async fn execute(
        &self,
        input: DebugConfirmInput,
        context: &ToolContext,
    ) -> Result<Reply<DebugConfirmOutput>, Unfinished> {
        let record = StopRecord::begin(Self::NAME, context);
        sleep(or_zero(input.duration)).await;
        record.wrote(context);
        let data = DebugConfirmOutput {
            value: input.value.unwrap_or_default(),
            writes: self.writes.count(&context.user.id),
            written_at: Some(convert::timestamp(clock::wall())),
        };
        record.complete();
        Ok(Reply { data, provenance: provenance() })
    }
}
