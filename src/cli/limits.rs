//! `toolwire limits`: what each source would do with a request, one a line.

use std::time::Duration;

use clap::Args;

use super::{backend::into_answer, connection::Connection, table::Table};
use toolwire_base::clock;
use toolwire_contract::proto::v1;
use toolwire_server::{
    console::{self, Failure},
    domain::Domain,
};

/// Shows what each source would do with a request of yours: its budget, the wait, cool-downs
#[derive(Debug, Args)]
pub(super) struct Limits {
    #[command(flatten)]
    connection: Connection,
}

impl Limits {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let backend = self.connection.open(domains).await?;
        let limits = into_answer(backend.tools().get_limits(v1::GetLimitsRequest::default())).await?.limits;
        if limits.is_empty() {
            console::say("no sources: none of your tools reads from one");
            return Ok(());
        }
        table(&limits).print()
    }
}

fn table(limits: &[v1::SourceLimit]) -> Table {
    let heading = ["SOURCE", "A REQUEST NOW", "USED", "BUDGET"];
    Table::new(limits.iter().map(row)).with_heading(heading).with_short(&[1])
}

fn row(limit: &v1::SourceLimit) -> [String; 4] {
    let budget = limit.policy.as_ref().map_or_else(|| "unlimited".to_owned(), budget);
    [limit.source.clone(), now(limit), used(limit), budget]
}

/// How much of the budget is used, and for who may see it, how much of the budget of all users.
fn used(limit: &v1::SourceLimit) -> String {
    let of = |used: u32, policy: &v1::LimitPolicy| format!("{used} of {}", policy.max_requests);
    let own = limit.policy.as_ref().map(|policy| of(limit.used, policy));
    let all = limit.ceiling.as_ref().map(|policy| format!("{} by all", of(limit.ceiling_used, policy)));
    own.into_iter().chain(all).collect::<Vec<_>>().join(", ")
}

/// What a request now would meet.
pub(super) fn now(limit: &v1::SourceLimit) -> String {
    match (&limit.cool_down_until, limit.can_make_request) {
        (Some(until), _) => format!("refused until {until}"),
        (None, true) => format!("at once{}", because(limit)),
        (None, false) => {
            let wait = limit.wait_time.and_then(|it| Duration::try_from(it).ok()).unwrap_or_default();
            format!("after {}{}", clock::wait_in_words(wait), because(limit))
        }
    }
}

/// The reason, unless it is only that other requests come first.
fn because(limit: &v1::SourceLimit) -> String {
    if limit.reason.is_empty() { String::new() } else { format!(": {}", limit.reason) }
}

fn budget(policy: &v1::LimitPolicy) -> String {
    let v1::LimitPolicy { max_requests, window, min_delay } = policy;
    let (window, apart) = (seconds(window.as_ref()), seconds(min_delay.as_ref()));
    format!("{max_requests} in {window}, {apart} apart")
}

fn seconds(duration: Option<&prost_types::Duration>) -> String {
    let duration = duration.and_then(|it| Duration::try_from(*it).ok()).unwrap_or_default();
    clock::exact_in_words(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_what_a_request_now_would_meet() {
        let of = |seconds, nanos| Some(prost_types::Duration { seconds, nanos });
        let free =
            v1::SourceLimit { source: "toy-shelf".to_owned(), can_make_request: true, ..Default::default() };
        let policy = v1::LimitPolicy { max_requests: 12, window: of(60, 0), min_delay: of(5, 0) };
        let waits = v1::SourceLimit {
            source: "attic-feed".to_owned(),
            wait_time: of(2, 500_000_000),
            policy: Some(policy),
            used: 12,
            ceiling: Some(v1::LimitPolicy { max_requests: 40, ..policy }),
            ceiling_used: 15,
            ..Default::default()
        };
        let until = Some(prost_types::Timestamp { seconds: 1_768_557_600, nanos: 0 });
        let refused =
            v1::SourceLimit { source: "kiosks".to_owned(), cool_down_until: until, ..Default::default() };
        let expected = "\
SOURCE      A REQUEST NOW                       USED                       BUDGET
toy-shelf   at once                                                        unlimited
attic-feed  after 3 s                           12 of 12, 15 of 40 by all  12 in 60 s, 5 s apart
kiosks      refused until 2026-01-16T10:00:00Z                             unlimited
";
        assert_eq!(table(&[free, waits, refused]).render("", None), expected);
    }
}
