//! Calls that the embedded planner does not make by itself: changes, and reads that do not cover the whole message. The
//! turn proposes them, and a yes as the next message carries them out.

use std::fmt::Write;

use serde_json::json;

use super::{NextCalls, Turn, events};
use crate::{
    memory::Pending,
    proposal::{self, Proposal, ProposalAnswer},
    stored_call::StoredCall,
    turn::Event,
};
use toolwire_contract::proto::agent::v1::{AnswerDelta, turn_event::Event as LogEvent};
use toolwire_engine::{pipeline::confirm, registry::Category};
use toolwire_planner::{Plan, PlannedCall, Step};

/// The answer to a yes without a proposal.
const NOTHING_PROPOSED: &str = "There is nothing to confirm, and nothing was changed. A yes counts only as the next \
    message after my question, within 10 minutes and in the same session: send it with the `session_id` (in AG-UI the \
    `threadId`) of the answer that asked.";

/// The answer to a no.
const DECLINED: &str = "Nothing was changed.";

/// The answer to a no after a question about what to look up.
const DROPPED: &str = "All right.";

impl Turn<'_> {
    /// Handles a message that answers a proposal. `None` if the message is to be planned.
    pub(super) fn answer_proposal(&mut self) -> Option<Event> {
        // Later plans of the turn are about its own message; a resumed turn has been answered already.
        let is_first = self.cycle.steps == 0 && self.request.checkpoint.is_none();
        let proposed = self.proposed.take().filter(|proposal| self.is_last_asked(proposal));
        let answer = match &proposed {
            _ if !is_first => ProposalAnswer::Neither,
            Some(proposal) => proposal.answer(&self.request.message, &self.offer),
            None => proposal::answer(&self.request.message),
        };
        let asks_first = self.chosen.planner.proposes_changes();
        let words = match (answer, proposed) {
            (ProposalAnswer::Yes, Some(proposal)) => match self.refuse_proposal(&proposal) {
                None => return Some(self.accept(proposal)),
                Some(words) => words,
            },
            (ProposalAnswer::No, None) if asks_first && self.ended_with_question() => DROPPED.to_owned(),
            (ProposalAnswer::No, Some(proposal)) if !proposal.is_change() => DROPPED.to_owned(),
            (ProposalAnswer::No, _) if asks_first => DECLINED.to_owned(),
            (ProposalAnswer::Yes, None) if asks_first && !self.ended_with_question() => {
                NOTHING_PROPOSED.to_owned()
            }
            (ProposalAnswer::Neither, Some(proposal))
                if asks_first && is_first && !proposal.has_expired(self.memory.now()) =>
            {
                self.drops_proposal = proposal.is_change();
                return None;
            }
            _ => return None,
        };
        self.draft.words = words;
        Some(Event::Question)
    }

    /// Whether the last answer that the user saw is the question about this proposal. A caller that sends its own
    /// history may have shown another answer since.
    fn is_last_asked(&self, proposal: &Proposal) -> bool {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let question = || words(&proposal.question(&self.offer));
        self.request.before.last().is_none_or(|last| words(&last.answered).contains(&question()))
    }

    /// Why a proposal can no longer be carried out.
    fn refuse_proposal(&self, proposal: &Proposal) -> Option<String> {
        if proposal.has_expired(self.memory.now()) {
            return Some(
                "That was too long ago: a yes counts for 10 minutes. Nothing was changed. Say again what to do."
                    .to_owned(),
            );
        }
        if let Some(changed) = proposal.first_changed(&self.offer) {
            return Some(format!(
                "The tool {} has changed since I asked, or is not offered here, so nothing was done. Say again what to do.",
                changed.call.tool
            ));
        }
        let (calls, most) = (proposal.calls.len(), self.cycle.budget().max_calls);
        (u32::try_from(calls).unwrap_or(u32::MAX) > most)
            .then(|| format!("That takes {calls} calls, and this turn may make {most}. Nothing was changed."))
    }

    /// Whether the last turn ended with a question, which the message may answer.
    fn ended_with_question(&self) -> bool {
        !self.request.is_new_session && self.history.last().is_some_and(|exchange| exchange.is_open)
    }

    /// Makes the proposed calls with the idempotency keys of the proposal: a second yes makes none of them twice.
    fn accept(&mut self, proposal: Proposal) -> Event {
        let pending = |(place, it): (usize, proposal::ProposedCall)| Pending {
            call: it.call,
            request_id: it.request_id,
            place,
        };
        let pending: Vec<_> = proposal.calls.into_iter().enumerate().map(pending).collect();
        self.cycle.begin_accepted(pending.len());
        let calls = pending.iter().map(|it| it.call.clone().into()).collect();
        self.next_calls = NextCalls::Pending(pending);
        let reason = "the user said yes to it".to_owned();
        let plan = Plan { step: Step::Call(calls), reason, confidence: 1.0, alternatives: Vec::new() };
        self.log.tell(LogEvent::Plan(events::plan(&plan, self.cycle.steps)));
        Event::Calls
    }

    /// Moves the calls that change something from a plan into a proposal. If the pipeline asks a person about every one
    /// of them, the plan stays as it is.
    pub(super) fn propose_changes(&mut self, plan: Plan) -> Plan {
        let Plan { step: Step::Call(calls), reason, confidence, alternatives } = plan else { return plan };
        let is_proposed = |call: &PlannedCall| self.is_change(call) && !self.is_confirmed_anyway(call);
        if !self.chosen.planner.proposes_changes() || !calls.iter().any(is_proposed) {
            return Plan { step: Step::Call(calls), reason, confidence, alternatives };
        }
        let (changes, reads): (Vec<_>, Vec<_>) = calls.into_iter().partition(|call| self.is_change(call));
        self.propose(&changes, Vec::new());
        Plan { step: Step::Call(reads), reason, confidence, alternatives }
    }

    /// Asks whether to make calls: of changes, or of reads that do not cover these parts of the message.
    pub(super) fn propose(&mut self, calls: &[PlannedCall], unclear: Vec<String>) {
        let mut name = || self.cycle.name_next(self.request.turn_id).to_string();
        let named: Vec<_> = calls.iter().map(|call| (StoredCall::from(call), name())).collect();
        // The session remembers them too: a follow-up may refer to them.
        self.cycle.planned.extend(calls.iter().map(StoredCall::from));
        self.draft.proposal = Proposal::new(named, unclear, &self.offer, self.memory.now());
    }

    /// Whether a call changes something. A call of a tool that is not offered does not: it is never made.
    fn is_change(&self, call: &PlannedCall) -> bool {
        self.offer.get(&call.tool).is_some_and(|tool| tool.definition.category != Category::Read)
    }

    /// Whether the pipeline asks a person to confirm the call.
    fn is_confirmed_anyway(&self, call: &PlannedCall) -> bool {
        self.offer
            .get(&call.tool)
            .is_some_and(|tool| confirm::of_definition(&tool.definition, self.is_tainted()).is_some())
    }

    /// Appends to the answer that a proposal was dropped: `yes, but not now` may be meant as a yes.
    pub(super) fn tell_dropped_proposal(&mut self) {
        if self.drops_proposal {
            self.append(DECLINED);
        }
    }

    /// Appends the question about the proposal to the answer.
    pub(super) fn ask_about_proposal(&mut self) {
        let Some(proposal) = &self.draft.proposal else { return };
        let mut question = proposal.question(&self.offer);
        if self.request.is_new_session {
            let _ = write!(question, " (Answer in the session {}.)", self.request.session);
            for it in proposal.calls.iter().filter(|_| !proposal.is_change()) {
                let call = json!({ "tool": it.call.tool, "arguments": it.call.arguments });
                let _ = write!(question, "\n\nOr send the call as it is: `{call}`");
            }
        }
        self.append(&question);
        self.draft.question = Some(question);
    }

    fn append(&mut self, sentence: &str) {
        let gap = if self.draft.answer.is_empty() { "" } else { "\n\n" };
        let text = format!("{gap}{sentence}");
        self.draft.answer.push_str(&text);
        self.log.tell(LogEvent::AnswerDelta(AnswerDelta { text }));
    }
}
