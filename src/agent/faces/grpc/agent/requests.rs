//! Decodes requests of conversations.

use http::Extensions;

use crate::service::turns::{BudgetWish, CancelTarget, NewTurn, Say};
use toolwire_contract::{
    Refusal, Violation,
    convert::ResultFormat,
    proto::{
        agent::v1::{self, TurnInput, cancel_turn_request::Which as Named, turn_input::Say as Wire},
        v1::ResultFormat as Form,
    },
};
use toolwire_server::{
    faces::incoming,
    service::request::{self, refuse},
};
use toolwire_tool::context::SessionId;

/// The requested turn with its context, and the form of its events.
pub(super) fn turn(from: &Extensions, input: Option<TurnInput>) -> Result<(NewTurn, ResultFormat), Refusal> {
    let input = input.unwrap_or_default();
    let format = input.result_format().into();
    Ok((new_turn(from, input).map_err(within_input)?, format))
}

fn new_turn(from: &Extensions, mut input: TurnInput) -> Result<NewTurn, Refusal> {
    let (_, mut context) = incoming::caller(from);
    incoming::context(&mut context, input.context.take().unwrap_or_default())?;
    if input.result_format() == Form::Model {
        let what =
            "must be RESULT_FORMAT_STRUCT or RESULT_FORMAT_JSON: the results of a turn have no other form";
        return Err(refuse("result_format", "enum", what));
    }
    let say = match input.say {
        Some(Wire::Message(message)) => Say::Message(message),
        Some(Wire::Resume(resume)) => Say::Resume(resume.turn_id),
        None => return Err(refuse("say", "required", "must be message or resume")),
    };
    Ok(NewTurn {
        context,
        say,
        account: input.account,
        request_id: request::request_id("request_id", &input.request_id)?,
        tags: input.tags,
        unread: Vec::new(),
        before: Vec::new(),
        budget: wish(input.budget)?,
    })
}

/// The budget of a turn.
pub(super) fn wish(budget: Option<v1::TurnBudget>) -> Result<BudgetWish, Refusal> {
    let budget = budget.unwrap_or_default();
    Ok(BudgetWish {
        max_steps: budget.max_steps,
        max_calls: budget.max_calls,
        max_tokens: budget.max_tokens,
        max_time: request::wait("budget.max_time", budget.max_time)?,
    })
}

/// Prefixes the fields of a refusal with `input`, the message that contains them.
pub(super) fn within_input(refusal: Refusal) -> Refusal {
    let Refusal::InvalidRequest(violations) = refusal else { return refusal };
    let within = |it: Violation| Violation { pointer: format!("input.{}", it.pointer), ..it };
    Refusal::InvalidRequest(violations.into_iter().map(within).collect())
}

/// The turn that is to be cancelled, or what runs or waits in a session.
pub(super) fn cancel_target(named: Option<Named>) -> Result<CancelTarget, Refusal> {
    match named {
        Some(Named::TurnId(id)) => Ok(CancelTarget::Turn(id)),
        Some(Named::SessionId(id)) => session(&id).map(CancelTarget::Session),
        None => Err(refuse("which", "required", "must be turn_id or session_id")),
    }
}

/// Parses the session's name.
pub(super) fn session(id: &str) -> Result<SessionId, Refusal> {
    let session = request::session_id("session_id", id)?;
    session.ok_or_else(|| refuse("session_id", "required", "must name a session"))
}
