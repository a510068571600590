//! A tool behind a typed RPC.

use tonic::{Code, Request, Status};

use super::{Face, incoming};
use crate::{
    contract::{Confirmation, Refusal, Terminal, arguments, convert, proto::v1, status},
    pipeline::Target,
    tools::tool::Tool,
};

/// Calls a tool with its input message and returns its output message.
pub(super) async fn call<T: Tool>(
    face: &Face,
    request: Request<T::Input>,
) -> Result<(T::Output, v1::Provenance), Status> {
    let (metadata, extensions, input) = request.into_parts();
    let target = Target::Tool(T::NAME.to_owned());
    let mut call = incoming::call(&extensions, target, arguments::from_message(&input));
    incoming::metadata(&mut call, &metadata)?;
    incoming::hand_over(&extensions);
    let call_id = call.context.call_id;
    match face.pipeline.finish(call).await? {
        Terminal::ConfirmationRequired(confirmation) => Err(confirmation_required(&confirmation)),
        Terminal::Result(result) => {
            let payload = result.outcome.map_err(|error| status::of_tool_error(&error))?;
            let data = payload.decode().map_err(|wrong| {
                tracing::error!(tool_name = T::NAME, %call_id, %wrong, "a manifest made this another kind of tool");
                Refusal::Internal { call_id: call_id.to_string() }
            })?;
            Ok((data, convert::provenance(result.provenance)))
        }
    }
}

fn confirmation_required(confirmation: &Confirmation) -> Status {
    let message = format!(
        "A person must approve this call first ({}): {}. Call again with the same x-toolwire-request-id afterwards.",
        confirmation.confirmation_id, confirmation.summary
    );
    status::plain(Code::FailedPrecondition, "CONFIRMATION_REQUIRED", &message)
}
