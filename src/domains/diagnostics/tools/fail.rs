//! `debug_fail`: fails as its input says.

use super::stop_record::StopRecord;
use crate::proto::v1::{DebugFailInput, DebugFailOutput};
use toolwire_contract::{ErrorCode, ToolError};
use toolwire_tool::{
    Reply, Tool,
    context::{ToolContext, Unfinished},
};

/// Fails with the error of its input.
#[derive(Clone, Copy, Debug)]
pub struct DebugFail;

impl Tool for DebugFail {
    const NAME: &'static str = "debug_fail";
    type Input = DebugFailInput;
    type Output = DebugFailOutput;

    async fn execute(
        &self,
        input: DebugFailInput,
        context: &ToolContext,
    ) -> Result<Reply<DebugFailOutput>, Unfinished> {
        let record = StopRecord::begin(Self::NAME, context);
        let code = input.code.unwrap_or_default().parse().unwrap_or(ErrorCode::Unknown);
        let mut error = ToolError::new(code, format!("Failed with {} as asked", code.into_str()));
        error.retry_after = input.retry_after.and_then(|duration| duration.try_into().ok());
        record.complete();
        Err(error.into())
    }
}
