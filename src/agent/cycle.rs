//! The calls of one cycle: as many as its budget allows, in parallel, and none of them twice.
//!
//! Everything goes through the pipeline, as the turn's user. Not here: which calls are wanted, and what is made of
//! their results.

mod call;
mod slot;

use std::{collections::HashMap, sync::Arc};

use futures_util::{StreamExt, stream};

use self::{
    call::End,
    slot::{Disposition, Slot, failure, key_in, no_calls_left, not_offered, not_waited_for, too_often},
};
pub(super) use self::{
    call::{Caller, component, planned_call, text},
    slot::is_cut,
};
use super::{
    Budget, TurnId,
    memory::{Checkpoint, Pending, StoredExecution},
    source_counts::SourceCounts,
    stored_call::StoredCall,
};
use toolwire_base::digest::Digest;
use toolwire_contract::{ErrorCode, ToolError, ToolResult};
use toolwire_planner::{
    ExecutedCall, Offer, PlannedCall,
    policy::{OnError, on_error},
};
use toolwire_tool::context::RequestId;

/// The progress of a cycle.
#[derive(Debug)]
pub(super) struct Cycle {
    budget: Budget,
    /// Number of plans made.
    pub(super) steps: u32,
    /// Number of calls made.
    pub(super) calls: u32,
    /// The number of the next call. The identifier derived from it is the same when the turn is repeated.
    position: u32,
    /// The calls that ended, in the order in which they were planned.
    pub(super) made: Vec<ExecutedCall>,
    /// The identifier of each, in the same order; empty if it was not made.
    pub(super) call_ids: Vec<String>,
    /// The index of each call's result in `made`, by the key of the call; `None` until the call has ended.
    known: HashMap<Digest, Option<usize>>,
    /// Every call that was planned.
    pub(super) planned: Vec<StoredCall>,
    /// The calls that wait for persons.
    pub(super) pending: Vec<(Pending, PendingApproval)>,
    /// Whether a result holds text from outside.
    pub(super) tainted: bool,
    source_counts: SourceCounts,
}

/// A call's identifier, and the confirmation that it needs.
pub(super) type PendingApproval = (String, Box<toolwire_contract::ConfirmationRequired>);

/// How a step ended.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum StepOutcome {
    /// Every call has ended.
    Results,
    /// Calls wait for persons.
    Awaits,
    /// A source refuses us: the tool of that call, and its error.
    Stopped(String, ToolError),
    /// There was no budget for all of them.
    Spent,
}

impl Cycle {
    pub(super) fn new(budget: Budget) -> Self {
        Self {
            budget,
            steps: 0,
            calls: 0,
            position: 0,
            made: Vec::new(),
            call_ids: Vec::new(),
            known: HashMap::new(),
            planned: Vec::new(),
            pending: Vec::new(),
            tainted: false,
            source_counts: SourceCounts::default(),
        }
    }

    /// The cycle of a paused turn, without the calls that wait.
    pub(super) fn resume_from(checkpoint: Checkpoint, tainted: bool, offer: &Offer) -> Self {
        let [max_steps, max_calls, max_tokens] = checkpoint.bounds;
        let mut cycle = Self::new(Budget { max_steps, max_calls, max_tokens });
        cycle.steps = checkpoint.steps;
        cycle.calls = checkpoint.calls;
        cycle.position = checkpoint.position;
        cycle.tainted = tainted;
        for (made, call_id) in checkpoint.made.into_iter().filter_map(StoredExecution::restore) {
            cycle.planned.push(StoredCall::from(&made.call));
            cycle.keep(key_in(offer, &made.call), made.call, call_id, made.result);
        }
        cycle
    }

    pub(super) fn budget(&self) -> Budget {
        self.budget
    }

    /// The number of the next call.
    pub(super) fn position(&self) -> u32 {
        self.position
    }

    /// The identifier of the next call of a turn.
    pub(super) fn name_next(&mut self, turn_id: TurnId) -> RequestId {
        let request_id = turn_id.part(self.position);
        self.position += 1;
        request_id
    }

    /// Counts the step that carries out an accepted proposal, and its calls.
    pub(super) fn begin_accepted(&mut self, calls: usize) {
        self.steps += 1;
        self.calls += u32::try_from(calls).unwrap_or(u32::MAX);
    }

    /// Whether another plan may be made.
    pub(super) fn may_plan(&self) -> bool {
        self.steps < self.budget.max_steps
    }

    /// Makes the calls of a plan, except those that are known or refused.
    pub(super) async fn step(&mut self, caller: &Caller<'_>, calls: Vec<PlannedCall>) -> StepOutcome {
        self.planned.extend(calls.iter().map(StoredCall::from));
        let slots: Vec<_> = calls.into_iter().map(|call| self.slot(caller, call)).collect();
        let is_cut = |slot: &Slot| matches!(&slot.disposition, Disposition::Refused(it) if is_cut(it));
        let was_cut = slots.iter().any(is_cut);
        match self.run(caller, slots).await {
            StepOutcome::Results if was_cut => StepOutcome::Spent,
            stepped => stepped,
        }
    }

    /// Makes the calls again that waited for a person, with the identifiers under which the decision was made.
    pub(super) async fn resume(&mut self, caller: &Caller<'_>, pending: Vec<Pending>) -> StepOutcome {
        let slot = |pending: Pending| {
            let (planned, place): (PlannedCall, _) = (pending.call.into(), Some(pending.place));
            let unnamed = || ToolError::new(ErrorCode::Unavailable, "not called: it cannot be named again");
            let request_id = pending.request_id.parse().map_err(|_| unnamed());
            let disposition = request_id.map_or_else(Disposition::Refused, Disposition::Call);
            Slot { key: key_in(caller.offer, &planned), planned, disposition, place }
        };
        let slots: Vec<_> = pending.into_iter().map(slot).collect();
        self.planned.extend(slots.iter().map(|slot| StoredCall::from(&slot.planned)));
        self.run(caller, slots).await
    }

    fn slot(&mut self, caller: &Caller<'_>, planned: PlannedCall) -> Slot {
        let key = key_in(caller.offer, &planned);
        let disposition = self.dispose(caller, &planned, key);
        Slot { planned, key, disposition, place: None }
    }

    /// Decides what is done with a planned call.
    fn dispose(&mut self, caller: &Caller<'_>, planned: &PlannedCall, key: Digest) -> Disposition {
        let Some(tool) = caller.offer.get(&planned.tool) else {
            return Disposition::Refused(not_offered(caller, &planned.tool));
        };
        if let Some(why) = planned.by_model.as_ref().and_then(|it| it.unreadable.clone()) {
            return Disposition::Refused(ToolError::invalid_arguments(vec![why]));
        }
        // Before the checks that depend on earlier calls and budgets: the identifiers depend on the plan alone.
        let request_id = self.name_next(caller.turn_id);
        // Before the budget: a repeat is answered from the first call and costs nothing.
        if self.known.contains_key(&key) {
            return Disposition::Known;
        }
        if self.calls >= self.budget.max_calls {
            return Disposition::Refused(no_calls_left(self.budget.max_calls));
        }
        // Last, since it counts: a call that is refused for another reason takes nothing from its source.
        if let Err(spent) = self.source_counts.count(tool, caller.budgets) {
            return Disposition::Refused(too_often(&spent.title, spent.budget.max_requests));
        }
        self.calls += 1;
        // Known before its result, so that an equal call of this step is not made too.
        self.known.insert(key, None);
        Disposition::Call(request_id)
    }

    /// Makes the calls, up to the concurrency at once. The first refusal by a source ends the step.
    async fn run(&mut self, caller: &Caller<'_>, slots: Vec<Slot>) -> StepOutcome {
        let mut ends: Vec<Option<End>> = slots.iter().map(|_| None).collect();
        let mut stopped = None;
        {
            let mut wanted = Vec::new();
            for (at, slot) in slots.iter().enumerate() {
                if let Disposition::Call(request_id) = &slot.disposition {
                    wanted.push(caller.make_numbered(at, &slot.planned, *request_id));
                }
            }
            let mut made = stream::iter(wanted).buffer_unordered(caller.concurrency);
            while let Some((at, end)) = made.next().await {
                if let End::Result { result, .. } = &end
                    && let Err(error) = &result.outcome
                    && on_error(error.code) == OnError::Stop
                {
                    stopped = Some((slots[at].planned.tool.clone(), error.clone()));
                }
                ends[at] = Some(end);
                if stopped.is_some() {
                    // Dropping the others cancels them.
                    break;
                }
            }
        }
        // Also after a refusal: the answer uses the results that are there.
        self.record(caller.offer, slots, ends);
        match stopped {
            Some((tool, error)) => StepOutcome::Stopped(tool, error),
            None if !self.pending.is_empty() => StepOutcome::Awaits,
            None => StepOutcome::Results,
        }
    }

    /// Records the ends of the calls in the order in which they were planned, not in that of their ends: so an equal
    /// call comes after the one whose result it repeats.
    fn record(&mut self, offer: &Offer, slots: Vec<Slot>, ends: Vec<Option<End>>) {
        for (slot, end) in slots.into_iter().zip(ends) {
            let Slot { planned, key, disposition, place } = slot;
            match (disposition, end) {
                (Disposition::Call(_), Some(End::Result { call_id, result })) => {
                    // Not by the definition: a composite, and a part of a kept result, may hold what others returned.
                    self.tainted |= result.outcome.is_ok() && result.provenance.untrusted_nonce.is_some();
                    self.keep_at(place, key, planned, call_id, result);
                }
                (Disposition::Call(request_id), Some(End::Awaits { call_id, required })) => {
                    let request_id = required.request_id.parse().unwrap_or(request_id);
                    let call = StoredCall::from(&planned);
                    let place = place.unwrap_or(self.made.len() + self.pending.len());
                    let pending = Pending { call, request_id: request_id.to_string(), place };
                    self.pending.push((pending, (call_id, required)));
                }
                // The step was ended before the call. It is kept, so that the answer says that it is missing.
                (Disposition::Call(_), None) => {
                    let error = not_waited_for(offer, &planned.tool);
                    self.keep_failure(planned, error);
                }
                (Disposition::Known, _) => self.repeat(key, planned),
                (Disposition::Refused(error), _) => self.keep_failure(planned, error),
            }
        }
    }

    /// Keeps the result of a call that waited at the place that it has in the plan.
    fn keep_at(
        &mut self,
        place: Option<usize>,
        key: Digest,
        call: PlannedCall,
        call_id: String,
        result: Arc<ToolResult>,
    ) {
        let Some(place) = place.filter(|place| *place < self.made.len()) else {
            return self.keep(key, call, call_id, result);
        };
        // The results behind it move up by one.
        for at in self.known.values_mut().flatten().filter(|at| **at >= place) {
            *at += 1;
        }
        self.known.insert(key, Some(place));
        self.made.insert(place, ExecutedCall { call, result });
        self.call_ids.insert(place, call_id);
    }

    fn keep(&mut self, key: Digest, call: PlannedCall, call_id: String, result: Arc<ToolResult>) {
        self.known.insert(key, Some(self.made.len()));
        self.made.push(ExecutedCall { call, result });
        self.call_ids.push(call_id);
    }

    /// Keeps the failure of a call that was not made, or not made to its end.
    fn keep_failure(&mut self, call: PlannedCall, error: ToolError) {
        let result = failure(&call.tool, error);
        self.made.push(ExecutedCall { call, result: Arc::new(result) });
        self.call_ids.push(String::new());
    }

    /// Answers an equal call from the one that was made. That one may have no result: it waits, or was dropped.
    fn repeat(&mut self, key: Digest, call: PlannedCall) {
        let Some(at) = self.known.get(&key).copied().flatten() else { return };
        let (result, call_id) = (Arc::clone(&self.made[at].result), self.call_ids[at].clone());
        self.made.push(ExecutedCall { call, result });
        self.call_ids.push(call_id);
    }
}
