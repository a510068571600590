//! `debug_confirm_nested`: two writes by other tools, of which a person must approve the second. It writes nothing
//! itself, so it can begin again once that is done.

use super::{confirm::DebugConfirm, provenance, write::DebugWrite};
use crate::proto::v1::{
    DebugConfirmInput, DebugConfirmNestedInput, DebugConfirmNestedOutput, DebugWriteInput,
};
use toolwire_tool::{
    self as tool, Reply, Tool,
    context::{ToolContext, Unfinished},
};

#[derive(Clone, Copy, Debug)]
pub struct DebugConfirmNested;

impl Tool for DebugConfirmNested {
    const NAME: &'static str = "debug_confirm_nested";
    type Input = DebugConfirmNestedInput;
    type Output = DebugConfirmNestedOutput;

    async fn execute(
        &self,
        DebugConfirmNestedInput { value }: DebugConfirmNestedInput,
        context: &ToolContext,
    ) -> Result<Reply<DebugConfirmNestedOutput>, Unfinished> {
        let write = DebugWriteInput { value: value.clone(), duration: None };
        let first = tool::call::<DebugWrite>(&write, context).await?.data;
        let confirm = DebugConfirmInput { value, duration: None };
        let second = tool::call::<DebugConfirm>(&confirm, context).await?.data;
        let data = DebugConfirmNestedOutput { first: Some(first), second: Some(second) };
        Ok(Reply { data, provenance: provenance() })
    }
}
