//! Calls from a tool to another tool: through the whole pipeline, with the remaining time and the parent's user.

use futures_util::future::BoxFuture;

use super::{Call, Pipeline, Target};
use toolwire_contract::{
    ErrorCode, Origin, Payload, Provenance, Refusal, Terminal, ToolError, arguments::Arguments,
};
use toolwire_tool::context::{CallTools, ToolContext, Unfinished};

/// Maximum depth of nested calls, the outermost not counted.
const MAX_DEPTH: usize = 8;

impl CallTools for Pipeline {
    fn call_tool<'a>(
        &'a self,
        parent: &'a ToolContext,
        tool: &'a str,
        arguments: Arguments,
    ) -> BoxFuture<'a, Result<(Payload, Provenance), Unfinished>> {
        Box::pin(async move {
            if parent.depth >= MAX_DEPTH {
                return Err(too_deep(tool).into());
            }
            let lineage = parent.lineage.nested(parent.tool.as_ref(), tool, &arguments);
            // The parent's context holds only the services that its tool declares; the layers and the nested tool need
            // others.
            let services = self.services.clone();
            let mut context = ToolContext { lineage, services, ..parent.nested() };
            // A toolset says what is called from outside. What a tool of it is made of is the tool's own.
            context.user = context.user.without_toolsets();
            let call = Call::new(context, Target::Tool(tool.to_owned()), Ok(arguments));
            match (self.stack)(Box::new(call)).await.map_err(|refusal| error_of_refusal(&refusal))? {
                Terminal::Result(result) => Ok((result.outcome?, result.provenance)),
                Terminal::ConfirmationRequired(it) => Err(Unfinished::AwaitsConfirmation(it)),
            }
        })
    }
}

fn too_deep(tool: &str) -> ToolError {
    let message = format!("{tool} was not called: calls nest deeper than {MAX_DEPTH} levels");
    ToolError::new(ErrorCode::InvalidArgument, message).with_origin(Origin::Tool)
}

/// The error that a refusal becomes for the tool or agent that made the call.
pub fn error_of_refusal(refusal: &Refusal) -> ToolError {
    let code = match refusal {
        Refusal::PermissionDenied { .. } | Refusal::InsufficientScope { .. } => ErrorCode::PermissionDenied,
        // A manifest that depends on a missing tool does not load, so the tool was removed or disabled since.
        Refusal::UnknownTool { .. }
        | Refusal::ToolAwaited { .. }
        | Refusal::UnknownIntent { .. }
        | Refusal::ToolDisabled { .. }
        | Refusal::TokenExpired
        | Refusal::TooManyRequestIds { .. }
        | Refusal::TooManyRequestIdsInAll { .. }
        | Refusal::TooManyConfirmations { .. }
        | Refusal::DefinitionChanged { .. }
        | Refusal::StateUnavailable { .. }
        | Refusal::ShuttingDown => ErrorCode::Unavailable,
        Refusal::QuotaExhausted { retry_after, .. } => {
            let error =
                ToolError::new(ErrorCode::RateLimited, refusal.to_string()).with_origin(Origin::Service);
            return ToolError { retry_after: Some(*retry_after), ..error };
        }
        Refusal::DeadlineExceeded => ErrorCode::Timeout,
        Refusal::CallerGone => return ToolError::cancelled(),
        Refusal::RequestIdReused { .. } | Refusal::Task(_) => ErrorCode::Conflict,
        Refusal::InvalidRequest(_) => ErrorCode::InvalidArgument,
        // These refuse requests other than calls.
        Refusal::UnknownConfirmation { .. }
        | Refusal::UnknownCall { .. }
        | Refusal::MayNotDecide { .. }
        | Refusal::ConfirmationDecided { .. }
        | Refusal::NoSuchSequence { .. }
        | Refusal::Document(_)
        | Refusal::Job(_)
        | Refusal::Turn(_)
        | Refusal::Internal { .. } => ErrorCode::Unknown,
    };
    ToolError::new(code, refusal.to_string()).with_origin(Origin::Service)
}
