//! Decides on a call that a person must approve: prompts at the terminal, or prints how others can decide.

use crate::{backend::Backend, card::card, connection::Connection, json};
use toolwire_contract::proto::v1::{self, decide_confirmation_request::Decision};
use toolwire_server::{
    client,
    console::{self, Failure},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PromptOutcome {
    /// The call is approved, and must be repeated.
    Approved,
    Denied,
    /// There is no decision yet.
    Undecided,
}

/// Prompts at the terminal. Without a terminal there is no prompt: the confirmation is printed as JSON.
pub(crate) async fn ask(
    backend: &Backend,
    required: &v1::ConfirmationRequired,
    connection: &Connection,
) -> Result<PromptOutcome, Failure> {
    if !console::is_interactive() {
        console::json(&json::confirmation_required(required))?;
        return Ok(PromptOutcome::Undecided);
    }
    // Fetched, not taken from the event: the card shows what is stored, and whether this user may decide.
    let confirmation = backend.confirmation(&required.confirmation_id).await;
    let confirmation = confirmation.map_err(|status| client::refusal(&status))?;
    console::say(card(&confirmation).trim_end());
    let may = confirmation.may_decide.clone().unwrap_or_default();
    if !may.allowed {
        console::say(&format!(
            "You may not decide: {}. A user who may does so with `toolwire approve {}{}`.",
            may.reason,
            confirmation.confirmation_id,
            connection.to_flags_of_others()
        ));
        return Ok(PromptOutcome::Undecided);
    }
    let Some(answer) = question(may.name_required).await? else {
        let (id, flags) = (&confirmation.confirmation_id, connection.to_flags());
        console::say(&format!(
            "\nNot decided. `toolwire approve {id}{flags}` or `toolwire deny {id}{flags}` decides later."
        ));
        return Ok(PromptOutcome::Undecided);
    };
    // Anything but a clear approval denies.
    let decision = decision(&confirmation.tool, may.name_required, &answer);
    record(backend, confirmation.confirmation_id, decision).await
}

async fn record(
    backend: &Backend,
    confirmation_id: String,
    decision: Decision,
) -> Result<PromptOutcome, Failure> {
    let approves = matches!(decision, Decision::Approve(_));
    let request = v1::DecideConfirmationRequest {
        confirmation_id,
        decision: Some(decision),
        on_behalf_of: String::new(),
    };
    backend.decide(request).await.map_err(|status| client::refusal(&status))?;
    if approves {
        return Ok(PromptOutcome::Approved);
    }
    console::say("denied; nothing was done");
    Ok(PromptOutcome::Denied)
}

/// The answer; `None` at the end of input, as after Ctrl-D.
async fn question(name_required: bool) -> Result<Option<String>, Failure> {
    let prompt = if name_required {
        "Type the tool's name to approve; anything else denies: "
    } else {
        "Approve? [y/N] "
    };
    console::answer(prompt).await.map_err(|error| Failure::Failed(format!("cannot ask: {error}")))
}

/// The decision of an answer: everything but a clear yes is a no.
fn decision(tool: &str, name_required: bool, answer: &str) -> Decision {
    let answer = answer.trim();
    let is_yes =
        if name_required { answer == tool } else { matches!(answer.to_lowercase().as_str(), "y" | "yes") };
    if is_yes {
        let tool = if name_required { answer.to_owned() } else { String::new() };
        return Decision::Approve(v1::Approve { tool, reason: String::new() });
    }
    Decision::Deny(v1::Deny { reason: "denied at the terminal of the caller".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_but_a_clear_yes_is_a_no() {
        let approves =
            |name_required, answer| matches!(decision("pay", name_required, answer), Decision::Approve(_));
        for yes in ["y", "Y", "yes", " y "] {
            assert!(approves(false, yes), "{yes:?}");
        }
        for no in ["", "n", "no", "ja", "pay", "yy"] {
            assert!(!approves(false, no), "{no:?}");
        }
        assert!(
            approves(true, "pay") && !approves(true, "y") && !approves(true, "Pay") && !approves(true, "")
        );
    }
}
