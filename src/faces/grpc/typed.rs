//! A tool behind a typed RPC, and the typed services made of such.
//!
//! The same pipeline as the generic door. A typed response has no room for an error, so a failure becomes a status.

use tonic::{Code, Request, Status};

use super::{Face, incoming};
use crate::{
    contract::{Confirmation, Refusal, Terminal, arguments, convert, proto::v1, status},
    pipeline::Target,
    tool::Tool,
};

/// Implements a typed service whose messages are in `wire`: one method for each tool, whose request is the tool's input and
/// whose response is the tool's output with its provenance; then the methods that are no tools.
macro_rules! typed_service {
    (
        $service:ident { $($method:ident: $tool:ty, $request:ident => $response:ident;)* }
        $($other_methods:tt)*
    ) => {
        #[tonic::async_trait]
        impl $service for $crate::faces::grpc::Face {
            $(async fn $method(
                &self,
                request: tonic::Request<wire::$request>,
            ) -> Result<tonic::Response<wire::$response>, tonic::Status> {
                let (data, provenance) = $crate::faces::grpc::typed::call::<$tool>(self, request).await?;
                Ok(tonic::Response::new(wire::$response { data: Some(data), provenance: Some(provenance) }))
            })*

            $($other_methods)*
        }
    };
}
pub(super) use typed_service;

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
