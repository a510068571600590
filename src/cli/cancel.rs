//! `toolwire cancel`: cancels a call that is running on a server.

use clap::Args;
use uuid::Uuid;

use super::{backend::into_answer, connection::Connection, ids};
use toolwire_contract::proto::v1::{CancelCallRequest, cancel_call_request::Call};
use toolwire_server::console::{self, Failure};

/// Cancels a call of yours that is running on a server
///
/// The call ends with CANCELLED; a write that has begun may still take effect. Exit code 1 means that no such call is
/// running.
#[derive(Debug, Args)]
pub(super) struct Cancel {
    /// The call_id that `accepted` shows, or the request_id the call was made with
    #[arg(value_name = "CALL_ID|REQUEST_ID")]
    id: String,
    #[command(flatten)]
    connection: Connection,
}

impl Cancel {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let remote = self.connection.remote().await?;
        let id = ids::call(&remote, &self.id, "").await?;
        if Uuid::try_parse(&id).is_err() {
            return Err(Failure::Usage(format!("no call of yours has a call_id that begins with {id}")));
        }
        // Both are UUIDs, so the identifier itself does not show its kind.
        for call in [Call::CallId(id.clone()), Call::RequestId(id.clone())] {
            let request = CancelCallRequest { call: Some(call) };
            if into_answer(remote.tools().cancel_call(request)).await?.cancelled {
                console::say(&format!("cancelled {id}"));
                return Ok(());
            }
        }
        Err(Failure::Failed(format!("no call of yours with the call_id or request_id {id} is running")))
    }
}
