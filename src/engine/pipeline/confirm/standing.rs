//! Whether the user of a call that waits for a person may still make it: rights are read again, and tokens end.

use std::{future::pending, sync::Arc};

use tokio::{select, time::sleep};

use super::super::{Call, Policy};
use toolwire_base::clock;
use toolwire_contract::{ConfirmationRequired, Refusal};

/// Refuses a call that its user may no longer make, nor the nested one that the confirmation is about.
pub(super) fn check(
    call: &Call,
    policy: &Arc<dyn Policy>,
    required: &ConfirmationRequired,
) -> Result<(), Refusal> {
    let user = &call.context.user;
    if user.grant.as_ref().is_some_and(|grant| grant.ends_at <= clock::wall()) {
        return Err(Refusal::TokenExpired);
    }
    for tool in [&*call.tool().definition.name, &*required.tool] {
        if !policy.may_call(user, tool) {
            return Err(Refusal::PermissionDenied { tool: tool.to_owned() });
        }
    }
    Ok(())
}

/// Completes with the refusal of the call once its user may no longer make it.
pub(super) async fn wait_for_loss(
    call: &Call,
    policy: &Arc<dyn Policy>,
    required: &ConfirmationRequired,
) -> Refusal {
    let mut changes = policy.changes();
    loop {
        if let Err(refusal) = check(call, policy, required) {
            return refusal;
        }
        let changed = async {
            match &mut changes {
                // Without a sender nothing changes any more.
                Some(changes) => {
                    if changes.changed().await.is_err() {
                        pending().await
                    }
                }
                None => pending().await,
            }
        };
        let expired = async {
            match &call.context.user.grant {
                Some(grant) => sleep(grant.ends_at.duration_since(clock::wall()).unwrap_or_default()).await,
                None => pending().await,
            }
        };
        select! {
            () = changed => {}
            () = expired => return Refusal::TokenExpired,
        }
    }
}
