//! Whether the user of a call that waits for a person may still make it: rights are read again, and tokens end.

use std::{future::pending, time::SystemTime};

use tokio::{select, time::sleep};

use super::{
    super::{Call, authorize::wait_for_change},
    Confirm,
};
use toolwire_base::clock;
use toolwire_contract::{ConfirmationRequired, Refusal};

/// Refuses a call that its user may no longer make, or whose nested call, which the confirmation is about, the user may
/// not.
pub(super) fn check(call: &Call, confirm: &Confirm, required: &ConfirmationRequired) -> Result<(), Refusal> {
    let of_caller = call.context.user.clone().with_toolset(None);
    if ends_at(call).is_some_and(|end| end <= clock::wall()) {
        return Err(Refusal::TokenExpired);
    }
    if !confirm.policy.knows(&of_caller) {
        return Err(Refusal::PermissionDenied { tool: call.tool().definition.name.to_string() });
    }
    let snapshot = confirm.registry.snapshot();
    let (own, asked) = (call.tool().definition.rule_target(), snapshot.rule_target(&required.tool));
    // What a tool of a toolset calls need not be of it.
    let of_tool = of_caller.clone().without_toolsets();
    for (user, tool) in [(&of_caller, own), (&of_tool, asked)] {
        if !confirm.policy.may_call(user, tool) {
            return Err(Refusal::PermissionDenied { tool: tool.name.to_owned() });
        }
    }
    Ok(())
}

/// Completes with the refusal of the call once its user may no longer make it.
pub(super) async fn wait_for_loss(
    call: &Call,
    confirm: &Confirm,
    required: &ConfirmationRequired,
) -> Refusal {
    let mut changes = confirm.policy.changes();
    loop {
        if let Err(refusal) = check(call, confirm, required) {
            return refusal;
        }
        let expired = async {
            match ends_at(call) {
                Some(end) => sleep(end.duration_since(clock::wall()).unwrap_or_default()).await,
                None => pending().await,
            }
        };
        select! {
            () = wait_for_change(changes.as_mut()) => {}
            () = expired => return Refusal::TokenExpired,
        }
    }
}

/// When the user's token ends, if it does.
fn ends_at(call: &Call) -> Option<SystemTime> {
    call.context.user.grant.as_ref()?.ends_at
}
