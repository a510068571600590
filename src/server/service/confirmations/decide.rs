//! Decisions on confirmations: the right to decide, the bounds of the reason, and the refusal of a late one.

use super::{super::unavailable::unavailable, ConfirmationView, Confirmations, unknown};
use crate::service::request::refuse;
use toolwire_base::clock;
use toolwire_contract::Refusal;
use toolwire_state::confirmations::{Confirmation, Decided, Decision, Verdict, life::State};
use toolwire_telemetry::metric;
use toolwire_tool::context::{Origin, RefusalLog, RefusedRequest, User};

const MAX_REASON_LENGTH: usize = 1_000;

/// Maximum length of `on_behalf_of`, in characters.
const MAX_BEHALF_LENGTH: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionRequest {
    pub choice: Choice,
    /// The person on whose behalf the user decides, by the user's own account.
    pub on_behalf_of: String,
    /// The face and the peer of the request.
    pub origin: Origin,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The call may be carried out once.
    Approve {
        /// The tool's name as the person typed it.
        tool: String,
        reason: String,
    },
    /// The call must not be carried out.
    Deny { reason: String },
}

impl Confirmations {
    /// Records a decision. A repeat changes nothing.
    pub async fn decide(
        &self,
        user: &User,
        id: &str,
        request: DecisionRequest,
    ) -> Result<ConfirmationView, Refusal> {
        check(&request)?;
        let parsed = id.parse().map_err(|_| unknown(id))?;
        let confirmation = self.find(user, &parsed).await?;
        if let Some(why) = self.lacks_right(user, &confirmation) {
            let (user, origin, target) = (Some(user), request.origin, &confirmation.key.tool);
            let reason = RefusedRequest::MAY_NOT_DECIDE;
            self.0.store.note(&RefusedRequest { reason, user, origin, target });
            return Err(Refusal::MayNotDecide { why });
        }
        check_name(&self.view(user, confirmation.clone()), &request.choice)?;
        self.check_offered(&confirmation, &request.choice)?;
        let decision = self.decision(user, &confirmation, request);
        let outcome = self
            .0
            .store
            .decide_confirmation(&parsed, &decision)
            .await
            .map_err(|error| unavailable(&error))?;
        let outcome = outcome.ok_or_else(|| unknown(id))?;
        if confirmation.state == State::Pending && outcome.holds {
            let took = decision.decided.at.duration_since(outcome.confirmation.created_at);
            metric::confirmation_decided(took.unwrap_or_default());
        }
        if !outcome.holds {
            return Err(Refusal::ConfirmationDecided { what: describe_state(&outcome.confirmation) });
        }
        Ok(self.view(user, outcome.confirmation))
    }

    /// A replica without the tool cannot verify the definition digest; another replica must decide.
    fn check_offered(&self, confirmation: &Confirmation, choice: &Choice) -> Result<(), Refusal> {
        let tool = &confirmation.key.tool;
        let is_open = confirmation.is_open(self.0.store.now());
        let is_offered = self.0.registry.snapshot().get(tool).is_some();
        if matches!(choice, Choice::Approve { .. }) && is_open && !is_offered {
            return Err(Refusal::UnknownTool { name: tool.to_string(), near: Vec::new() });
        }
        Ok(())
    }

    fn decision(&self, user: &User, confirmation: &Confirmation, request: DecisionRequest) -> Decision {
        let DecisionRequest { choice, on_behalf_of, origin } = request;
        let at = self.0.store.now();
        let decided = Decided { at, by: user.id.clone(), via: origin.face.to_owned(), on_behalf_of };
        let (known_by, peer, workload) = (user.known_by, origin.peer, user.recorded_workload().cloned());
        match choice {
            Choice::Approve { reason, .. } => {
                let snapshot = self.0.registry.snapshot();
                let now = snapshot.get(&confirmation.key.tool).map(|tool| tool.definition.digest);
                let verdict = Verdict::Approve { use_within: self.0.use_within, definition_digest: now };
                Decision { verdict, decided, reason, known_by, peer, workload }
            }
            Choice::Deny { reason } => {
                Decision { verdict: Verdict::Deny, decided, reason, known_by, peer, workload }
            }
        }
    }
}

fn check(request: &DecisionRequest) -> Result<(), Refusal> {
    let (field, reason, least) = match &request.choice {
        Choice::Approve { reason, .. } => ("approve.reason", reason, 0),
        Choice::Deny { reason } => ("deny.reason", reason, 1),
    };
    let length = reason.trim().chars().count();
    if length < least {
        return Err(refuse(field, "required", "must say why, for the caller"));
    }
    if reason.chars().count() > MAX_REASON_LENGTH {
        return Err(refuse(
            field,
            "max_length",
            &format!("must have at most {MAX_REASON_LENGTH} characters"),
        ));
    }
    if request.on_behalf_of.chars().count() > MAX_BEHALF_LENGTH {
        let what = format!("must have at most {MAX_BEHALF_LENGTH} characters");
        return Err(refuse("on_behalf_of", "max_length", &what));
    }
    Ok(())
}

/// A call with high consequences is approved by repeating its tool's name, so that a reflex does not approve it.
fn check_name(viewed: &ConfirmationView, choice: &Choice) -> Result<(), Refusal> {
    let Choice::Approve { tool, .. } = choice else { return Ok(()) };
    let expected = &viewed.confirmation.key.tool;
    if !tool.is_empty() && tool != expected.as_str() {
        return Err(refuse("approve.tool", "const", &format!("must be {expected}, which this is about")));
    }
    if viewed.name_required && tool.is_empty() {
        let what = format!("must repeat the name of the tool, {expected}: its consequence level is high");
        return Err(refuse("approve.tool", "required", &what));
    }
    Ok(())
}

/// `it was denied by riley at 2026-01-15T10:00:00Z`
fn describe_state(confirmation: &Confirmation) -> String {
    let state = confirmation.state.into_str();
    match (&confirmation.decided, confirmation.state) {
        (Some(decided), State::Approved | State::Denied) => {
            format!("it was {state} by {} at {}", decided.by, clock::rfc3339(decided.at))
        }
        (Some(decided), _) => {
            let at = clock::rfc3339(decided.at);
            format!("it is {state}; {} decided on it at {at}", decided.by)
        }
        (None, _) => format!("it is {state}: {}", confirmation.reason),
    }
}
