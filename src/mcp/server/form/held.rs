//! A form that a client shows while its call is under way, as in the revisions before 2026-07-28.

use std::time::Duration;

use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{
        CancelledNotificationParam, ClientResult, ElicitRequest, ElicitRequestParams, RequestId,
        ServerRequest,
    },
    service::PeerRequestOptions,
};
use serde_json::json;
use tokio::{runtime::Handle, select, time::sleep};

use super::{
    super::{
        call::{Call, End},
        handler::Handler,
        outcome::Answer,
        request::Invocation,
    },
    MAX_REFUSED, Reply, time_left,
};
use toolwire_contract::proto::v1::{Confirmation, ConfirmationRequired};

/// Delay before a confirmation is queried again, where the query failed or a drain cut it short.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// How long after a confirmation has expired its form stays open, if the server does not say that it has.
const GRACE: Duration = Duration::from_secs(5);

/// A form that the client shows. It is withdrawn if it is dropped before it is answered.
struct OpenForm<'a> {
    client: &'a Peer<RoleServer>,
    id: Option<RequestId>,
}

impl Handler {
    /// Asks the client's person to decide, and answers with the end of the call.
    pub(super) async fn ask_by_request(
        &self,
        call: &mut Call,
        invocation: &Invocation,
        required: &ConfirmationRequired,
        confirmation: Confirmation,
    ) -> Result<Answer, ErrorData> {
        let (mut required, mut confirmation) = (required.clone(), confirmation);
        let (mut problem, mut refused) = (None, 0);
        loop {
            let form = self.form(&required, &confirmation, problem.as_ref())?;
            let reply = show(call, invocation, &required, form).await;
            match self.decide(&required.confirmation_id, &reply).await {
                Err(status) if refused < MAX_REFUSED => {
                    (problem, refused) = (Some(status), refused + 1);
                    continue;
                }
                Ok(()) if reply != Reply::Declined => {}
                _ => return call.answer(End::Confirmation(Box::new(required))),
            }
            let request_id = required.request_id.parse().ok();
            let another = match call.run(Invocation { request_id, ..invocation.clone() }).await {
                // A client that only looked again is shown no other form: it may never answer one.
                End::Confirmation(another)
                    if another.confirmation_id != required.confirmation_id && reply != Reply::LookAgain =>
                {
                    another
                }
                end => return call.answer(end),
            };
            let found = self.confirmation(&another.confirmation_id).await;
            let Some(found) = found.filter(|found| self.decision(found).is_some()) else {
                return call.answer(End::Confirmation(another));
            };
            (required, confirmation, problem, refused) = (*another, found, None, 0);
        }
    }
}

/// What the person answered. The form is withdrawn, and the call looks again, once the confirmation was decided
/// elsewhere or has expired.
async fn show(
    call: &Call,
    invocation: &Invocation,
    required: &ConfirmationRequired,
    form: ElicitRequestParams,
) -> Reply {
    let Some(client) = call.progress.client() else { return Reply::Declined };
    let until = time_left(required).saturating_add(GRACE);
    let until = invocation.timeout.map_or(until, |timeout| timeout.min(until));
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
    let options = PeerRequestOptions::with_timeout(until);
    let Ok(asked) = client.send_cancellable_request(request, options).await else { return Reply::Declined };
    let mut open = OpenForm { client, id: Some(asked.id.clone()) };
    let answer = select! {
        answer = asked.await_response() => answer,
        () = end_of_pending(&call.handler, &required.confirmation_id) => return Reply::LookAgain,
    };
    open.id = None;
    match answer {
        Ok(ClientResult::ElicitResult(result)) => Reply::read(&json!(result)),
        // An error, or a client that is gone.
        _ => Reply::Declined,
    }
}

/// Waits until a confirmation is not pending any more.
async fn end_of_pending(handler: &Handler, confirmation_id: &str) {
    while handler.is_pending(confirmation_id).await != Some(false) {
        sleep(RETRY_DELAY).await;
    }
}

impl Drop for OpenForm<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), Handle::try_current()) else { return };
        let client = self.client.clone();
        runtime.spawn(async move {
            let reason = Some("no answer is needed any more".to_owned());
            let _ = client.notify_cancelled(CancelledNotificationParam::new(Some(id), reason)).await;
        });
    }
}
