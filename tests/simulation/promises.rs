//! What must hold in every run, whatever broke. Each promise counts how often it was put to the test.

use std::{collections::HashMap, time::Duration};

use toolwire::contract::proto::v1::ToolErrorCode;

use crate::{
    ledger::{End, Kept, Seen, Work},
    plan::{Kind, Link, Operation, Plan, SLACK},
    server::user,
};

/// `DEADLINE_EXCEEDED` and `RESOURCE_EXHAUSTED`, which a call may end with; `CANCELLED` where it was.
const MAY_END: [i32; 3] = [4, 8, 1];

/// How often each promise was put to the test.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Applied {
    /// A caller behind a whole link knew of its end by its deadline.
    ended: usize,
    /// A tool ended by its deadline.
    tools: usize,
    /// One whose deadline came before its end.
    cut: usize,
    /// A request to the source ended with its tool.
    asked: usize,
    /// A write was done once.
    written: usize,
    /// One that was asked for more than once was.
    repeated: usize,
    /// An answer was the caller's own.
    own: usize,
    /// A tool stopped when its call was cancelled.
    cancelled: usize,
    /// A tool stopped when its stream was reset.
    reset: usize,
    /// A call after the last repair succeeded.
    after: usize,
}

/// What does not hold, and what was looked at.
pub(crate) fn look(plan: &Plan, kept: &Kept, in_flight: usize) -> (Vec<String>, Applied) {
    let mut look = Look { plan, kept, broken: Vec::new(), applied: Applied::default() };
    look.callers_know_in_time();
    look.tools_end_in_time();
    look.requests_end_with_their_tools();
    look.writes_are_done_once();
    look.answers_are_the_callers_own();
    look.what_is_cancelled_stops();
    look.what_is_reset_stops();
    look.calls_succeed_after_the_last_repair();
    if in_flight != 0 {
        look.broken.push(format!("{in_flight} calls are still under way"));
    }
    (look.broken, look.applied)
}

struct Look<'a> {
    plan: &'a Plan,
    kept: &'a Kept,
    broken: Vec<String>,
    applied: Applied,
}

impl<'a> Look<'a> {
    fn callers_know_in_time(&mut self) {
        for seen in &self.kept.seen {
            let due = seen.sent + seen.operation.timeout + SLACK;
            if seen.end == End::Reset || !self.was_whole(seen, due) {
                continue;
            }
            self.applied.ended += 1;
            let has_ended = match &seen.end {
                End::Data { .. } | End::Failed(_) => true,
                End::Status(status) => MAY_END.contains(status),
                End::Broken | End::Lost | End::Reset => false,
            };
            self.expect(has_ended && seen.ended <= due, || format!("a call did not end in time: {seen:?}"));
        }
    }

    fn tools_end_in_time(&mut self) {
        for run in &self.kept.runs {
            self.applied.tools += 1;
            let Work { deadline, ended, .. } = run;
            self.applied.cut += usize::from(ended.is_some_and(|ended| ended >= *deadline));
            let is_in_time = ended.is_some_and(|ended| ended <= *deadline + SLACK);
            self.expect(is_in_time, || format!("a tool did not end by its deadline: {run:?}"));
        }
    }

    fn requests_end_with_their_tools(&mut self) {
        for asked in &self.kept.asked {
            self.applied.asked += 1;
            let is_of = |run: &&Work| {
                run.key == asked.key
                    && run.began <= asked.began
                    && run.ended.zip(asked.ended).is_some_and(|(run, asked)| asked <= run)
            };
            let is_within = self.kept.runs.iter().any(|run| is_of(&run));
            self.expect(is_within, || format!("a request to the source outlived its tool: {asked:?}"));
        }
    }

    fn writes_are_done_once(&mut self) {
        let mut written: HashMap<_, usize> = HashMap::new();
        for (key, _) in &self.kept.written {
            *written.entry(key.as_str()).or_default() += 1;
        }
        for operation in self.writes() {
            let seen: Vec<_> =
                self.kept.seen.iter().filter(|seen| seen.operation.key == operation.key).collect();
            let times = written.get(operation.key.as_str()).copied().unwrap_or_default();
            self.applied.written += 1;
            self.applied.repeated += usize::from(seen.len() > 1);
            self.expect(times <= 1, || format!("written {times} times: {operation:?}"));
            let has_data = seen.iter().any(|seen| matches!(seen.end, End::Data { .. }));
            self.expect(!has_data || times == 1, || format!("said to be written, but is not: {operation:?}"));
            let unknown = End::Failed(ToolErrorCode::OutcomeUnknown as i32);
            let is_known = has_data || seen.iter().any(|seen| seen.end == unknown);
            self.expect(is_known, || format!("how it ended was never said: {operation:?}"));
        }
    }

    fn answers_are_the_callers_own(&mut self) {
        for Seen { caller, operation, end, .. } in self.kept.seen.iter().chain(&self.kept.after) {
            let End::Data { key, user: whose } = end else { continue };
            self.applied.own += 1;
            let is_own = *key == operation.key && *whose == user(*caller);
            self.expect(is_own, || format!("caller {caller} got {end:?} for {operation:?}"));
        }
    }

    fn what_is_cancelled_stops(&mut self) {
        for (key, at) in &self.kept.cancelled {
            self.applied.cancelled += 1;
            self.expect_stopped(key, *at);
        }
    }

    fn what_is_reset_stops(&mut self) {
        for seen in self.kept.seen.iter().filter(|seen| seen.end == End::Reset) {
            let due = seen.ended + SLACK;
            if self.was_whole(seen, due) {
                self.applied.reset += usize::from(self.runs_of(&seen.operation.key).next().is_some());
                self.expect_stopped(&seen.operation.key, due);
            }
        }
    }

    fn calls_succeed_after_the_last_repair(&mut self) {
        for seen in &self.kept.after {
            self.applied.after += 1;
            let has_data = matches!(seen.end, End::Data { .. });
            self.expect(has_data, || format!("after the last repair: {seen:?}"));
        }
    }

    /// Nothing goes on for the key after that.
    fn expect_stopped(&mut self, key: &str, at: Duration) {
        let goes_on = |work: &Work| work.ended.is_none_or(|ended| ended > at);
        let asked = self.kept.asked.iter().filter(|asked| asked.key == key);
        let late: Vec<_> = self.runs_of(key).chain(asked).filter(|work| goes_on(work)).cloned().collect();
        self.expect(late.is_empty(), || format!("goes on after {at:?}: {late:?}"));
    }

    fn runs_of<'b>(&self, key: &'b str) -> impl Iterator<Item = &'a Work> + use<'a, 'b> {
        self.kept.runs.iter().filter(move |run| run.key == key)
    }

    fn writes(&self) -> impl Iterator<Item = &'a Operation> + use<'a> {
        self.plan.operations.iter().flatten().filter(|operation| operation.kind == Kind::Write)
    }

    /// Whether the caller's link was whole from the making of the connection until then.
    fn was_whole(&self, seen: &Seen, until: Duration) -> bool {
        let from = seen.connected.map(|connected| connected.min(seen.sent));
        from.is_some_and(|from| self.plan.is_whole(Link::Caller(seen.caller), from, until))
    }

    fn expect(&mut self, holds: bool, otherwise: impl FnOnce() -> String) {
        if !holds {
            self.broken.push(otherwise());
        }
    }
}

impl Applied {
    /// Both together.
    pub(crate) fn and(self, other: Self) -> Self {
        let (one, other) = (self.counts(), other.counts());
        let [ended, tools, cut, asked, written, repeated, own, cancelled, reset, after] =
            std::array::from_fn(|index| one[index].1 + other[index].1);
        Self { ended, tools, cut, asked, written, repeated, own, cancelled, reset, after }
    }

    /// The promises that were never put to the test.
    pub(crate) fn missing(self) -> Vec<&'static str> {
        self.counts().into_iter().filter(|(_, count)| *count == 0).map(|(name, _)| name).collect()
    }

    fn counts(self) -> [(&'static str, usize); 10] {
        let Self { ended, tools, cut, asked, written, repeated, own, cancelled, reset, after } = self;
        [
            ("ended", ended),
            ("tools", tools),
            ("cut", cut),
            ("asked", asked),
            ("written", written),
            ("repeated", repeated),
            ("own", own),
            ("cancelled", cancelled),
            ("reset", reset),
            ("after", after),
        ]
    }
}
