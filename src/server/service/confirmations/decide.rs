//! Deciding: the right to do so, the words that go with it, and what an answer says that comes too late.

use super::{super::unavailable::unavailable, Confirmations, Viewed, unknown};
use crate::service::request::refuse;
use toolwire_base::clock;
use toolwire_contract::Refusal;
use toolwire_store::confirmations::{Confirmation, Decided, Decision, Verdict, life::State};
use toolwire_telemetry::metric;
use toolwire_tool::context::{Origin, User};

const LONGEST_REASON: usize = 1_000;

/// The longest name of somebody on whose behalf is decided, in characters.
const LONGEST_BEHALF: usize = 256;

/// A decision as it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    pub ruling: Ruling,
    /// On whose behalf, as the decider says.
    pub on_behalf_of: String,
    /// Where it came from.
    pub origin: Origin,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// The call may be carried out once.
    Approve {
        /// The tool's name as the person typed it.
        tool: String,
        reason: String,
    },
    /// It must not be.
    Deny { reason: String },
}

impl Confirmations {
    /// Decides. The same decision again changes nothing.
    pub async fn decide(&self, user: &User, id: &str, judgement: Judgement) -> Result<Viewed, Refusal> {
        check(&judgement)?;
        let parsed = id.parse().map_err(|_| unknown(id))?;
        let confirmation = self.find(user, &parsed).await?;
        if let Some(why) = self.lacks_right(user, &confirmation) {
            return Err(Refusal::MayNotDecide { why });
        }
        check_name(&self.viewed(user, confirmation.clone()), &judgement.ruling)?;
        self.check_offered(&confirmation, &judgement.ruling)?;
        let decision = self.decision(user, &confirmation, judgement);
        let outcome = self.0.store.decide(&parsed, &decision).await.map_err(|error| unavailable(&error))?;
        let outcome = outcome.ok_or_else(|| unknown(id))?;
        if confirmation.state == State::Pending && outcome.holds {
            let took = decision.decided.at.duration_since(outcome.confirmation.created_at);
            metric::confirmation_decided(took.unwrap_or_default());
        }
        if !outcome.holds {
            return Err(Refusal::ConfirmationDecided { what: standing(&outcome.confirmation) });
        }
        Ok(self.viewed(user, outcome.confirmation))
    }

    /// Who does not offer the tool cannot tell whether it is still what a person was shown, and leaves it to who does.
    fn check_offered(&self, confirmation: &Confirmation, ruling: &Ruling) -> Result<(), Refusal> {
        let tool = &confirmation.key.tool;
        let is_open = confirmation.is_open(clock::wall());
        let is_offered = self.0.registry.snapshot().get(tool).is_some();
        if matches!(ruling, Ruling::Approve { .. }) && is_open && !is_offered {
            return Err(Refusal::UnknownTool { name: tool.to_string(), near: Vec::new() });
        }
        Ok(())
    }

    fn decision(&self, user: &User, confirmation: &Confirmation, judgement: Judgement) -> Decision {
        let Judgement { ruling, on_behalf_of, origin } = judgement;
        let at = clock::wall();
        let decided = Decided { at, by: user.id.clone(), via: origin.face.to_owned(), on_behalf_of };
        let (known_by, peer) = (user.known_by, origin.peer);
        match ruling {
            Ruling::Approve { reason, .. } => {
                let snapshot = self.0.registry.snapshot();
                let now = snapshot.get(&confirmation.key.tool).map(|tool| tool.definition.digest);
                let verdict = Verdict::Approve { use_until: at + self.0.use_within, definition_digest: now };
                Decision { verdict, decided, reason, known_by, peer }
            }
            Ruling::Deny { reason } => Decision { verdict: Verdict::Deny, decided, reason, known_by, peer },
        }
    }
}

fn check(judgement: &Judgement) -> Result<(), Refusal> {
    let (field, reason, least) = match &judgement.ruling {
        Ruling::Approve { reason, .. } => ("approve.reason", reason, 0),
        Ruling::Deny { reason } => ("deny.reason", reason, 1),
    };
    let length = reason.trim().chars().count();
    if length < least {
        return Err(refuse(field, "required", "must say why, for whoever called"));
    }
    if reason.chars().count() > LONGEST_REASON {
        return Err(refuse(field, "max_length", &format!("must have at most {LONGEST_REASON} characters")));
    }
    if judgement.on_behalf_of.chars().count() > LONGEST_BEHALF {
        let what = format!("must have at most {LONGEST_BEHALF} characters");
        return Err(refuse("on_behalf_of", "max_length", &what));
    }
    Ok(())
}

/// What has consequences is approved by naming it, so that nobody does so by a habit of saying yes.
fn check_name(viewed: &Viewed, ruling: &Ruling) -> Result<(), Refusal> {
    let Ruling::Approve { tool, .. } = ruling else { return Ok(()) };
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
fn standing(confirmation: &Confirmation) -> String {
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
