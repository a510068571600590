//! Calls from a tool to another tool: through the pipeline, within the remaining time.

use futures_util::future::BoxFuture;

use super::ToolContext;
use crate::contract::{Confirmation, ErrorCode, Payload, Provenance, ToolError, arguments::Arguments};

/// Why a tool did not return data.
///
/// A nested tool's confirmation passes through its caller unchanged, never as an error (spec 001): `?` does that.
#[derive(Clone, Debug, PartialEq)]
pub enum Unfinished {
    /// It failed.
    Failed(ToolError),
    /// A person must approve a call first.
    AwaitsConfirmation(Confirmation),
}

/// Calls tools through the pipeline.
pub trait CallTools: Send + Sync + std::fmt::Debug {
    /// Calls a tool on behalf of the call of the given context.
    fn call_tool<'a>(
        &'a self,
        parent: &'a ToolContext,
        tool: &'a str,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<(Payload, Provenance), Unfinished>>;
}

/// Calls nothing: for contexts outside a pipeline.
#[derive(Clone, Copy, Debug)]
pub struct NoNestedCalls;

impl CallTools for NoNestedCalls {
    fn call_tool<'a>(
        &'a self,
        _parent: &'a ToolContext,
        tool: &'a str,
        _arguments: Arguments,
    ) -> BoxFuture<'a, Result<(Payload, Provenance), Unfinished>> {
        let message = format!("{tool} cannot be called from here");
        Box::pin(async { Err(ToolError::new(ErrorCode::Unavailable, message).into()) })
    }
}

impl From<ToolError> for Unfinished {
    fn from(error: ToolError) -> Self {
        Self::Failed(error)
    }
}
