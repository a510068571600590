//! A form that a client shows while its call is under way, as in the revisions before 2026-07-28.

use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{
        CancelledNotificationParam, ClientResult, ElicitRequest, ElicitRequestParams, RequestId,
        ServerRequest,
    },
    service::PeerRequestOptions,
};
use serde_json::json;
use tokio::runtime::Handle;

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

/// A form on its way, which is withdrawn when it is dropped: its call was given up.
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
                End::Confirmation(another) if another.confirmation_id != required.confirmation_id => another,
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

/// What the person answered, before the confirmation expires or the client gives the call up.
async fn show(
    call: &Call,
    invocation: &Invocation,
    required: &ConfirmationRequired,
    form: ElicitRequestParams,
) -> Reply {
    let Some(client) = call.progress.client() else { return Reply::Declined };
    let until = invocation.timeout.map_or(time_left(required), |timeout| timeout.min(time_left(required)));
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
    let options = PeerRequestOptions::with_timeout(until);
    let Ok(asked) = client.send_cancellable_request(request, options).await else { return Reply::Declined };
    let mut open = OpenForm { client, id: Some(asked.id.clone()) };
    let answer = asked.await_response().await;
    open.id = None;
    match answer {
        Ok(ClientResult::ElicitResult(result)) => Reply::read(&json!(result)),
        // An error, or a client that is gone.
        _ => Reply::Declined,
    }
}

impl Drop for OpenForm<'_> {
    fn drop(&mut self) {
        let (Some(id), Ok(runtime)) = (self.id.take(), Handle::try_current()) else { return };
        let client = self.client.clone();
        runtime.spawn(async move {
            let reason = Some("the call was given up".to_owned());
            let _ = client.notify_cancelled(CancelledNotificationParam::new(Some(id), reason)).await;
        });
    }
}
