//! A tool behind a typed RPC, and the typed services made of such.
//!
//! The same pipeline as the generic service. A typed response has no room for an error, so a failure becomes a status.

use tonic::{Code, Request, Status};

use super::face::Face;
use crate::faces::incoming;
use toolwire_contract::{ConfirmationRequired, Refusal, Terminal, arguments, convert, proto::v1, status};
use toolwire_engine::pipeline::Target;
use toolwire_tool::Tool;

/// Maximum length of the arguments in a status, in bytes. `GetConfirmation` has longer ones.
const MAX_ARGUMENTS: usize = 2 * 1024;

/// Implements a typed service whose messages are in a module `wire`: one method for each tool, whose request is the
/// tool's input and whose response is the tool's output with its provenance; then the methods that are not tools.
///
/// The implementing type must give its [`Face`](crate::faces::grpc::Face) by `AsRef`; the face itself does.
///
/// ```ignore
/// grpc::typed_service! {
///     impl ToyService for Toys {
///         spin_top: tools::SpinTop, SpinTopRequest => SpinTopResponse;
///     }
///
///     async fn reset_toys(&self, request: Request<wire::ResetToysRequest>) -> … { … }
/// }
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! grpc_typed_service {
    (
        impl $service:ident for $answers:ty {
            $($method:ident: $tool:ty, $request:ident => $response:ident;)*
        }
        $($other_methods:tt)*
    ) => {
        #[tonic::async_trait]
        impl $service for $answers {
            $(async fn $method(
                &self,
                request: tonic::Request<wire::$request>,
            ) -> Result<tonic::Response<wire::$response>, tonic::Status> {
                let face: &$crate::faces::grpc::Face = self.as_ref();
                let (data, provenance) = $crate::faces::grpc::call::<$tool>(face, request).await?;
                Ok(tonic::Response::new(wire::$response { data: Some(data), provenance: Some(provenance) }))
            })*

            $($other_methods)*
        }
    };
}

/// Calls a tool with its input message and returns its output message with where it came from. Task, session and
/// `request_id` are read from the request's metadata; a failure of the tool becomes a status.
pub async fn call<T: Tool>(
    face: &Face,
    request: Request<T::Input>,
) -> Result<(T::Output, v1::Provenance), Status> {
    let (metadata, extensions, input) = request.into_parts();
    let target = Target::Tool(T::NAME.to_owned());
    let mut call = incoming::call(&extensions, target, arguments::from_message(&input));
    incoming::metadata(&mut call, metadata.as_ref())?;
    incoming::hand_over(&extensions);
    let call_id = call.context.call_id;
    match face.tools.finish(call).await? {
        Terminal::ConfirmationRequired(confirmation) => Err(confirmation_required(*confirmation)),
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

fn confirmation_required(confirmation: ConfirmationRequired) -> Status {
    let message = format!(
        "A person must approve this call first ({}). Call again with x-toolwire-request-id {} afterwards. It would do: {}",
        confirmation.confirmation_id, confirmation.request_id, confirmation.summary
    );
    let mut detail = convert::confirmation_required(confirmation);
    // `arguments_json` has the same, and headers, in which a status travels, are small.
    detail.arguments = None;
    if detail.arguments_json.len() > MAX_ARGUMENTS {
        detail.arguments_json.clear();
    }
    status::with_detail(Code::FailedPrecondition, "CONFIRMATION_REQUIRED", &message, &detail)
}
