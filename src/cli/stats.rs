//! `toolwire stats`: how many calls ended in each of the last 15 minutes, how, and how long they took.

use std::time::Duration;

use clap::Args;

use super::{backend::into_answer, json, observer_options::ObserverOptions, table::Table, words};
use toolwire_base::clock;
use toolwire_contract::proto::v1;
use toolwire_server::{
    console::{self, Failure},
    domain::Domain,
};

/// How much time a row covers, in seconds.
const STEP: i64 = 60;

/// Shows how many calls ended in the last 15 minutes, how, and how long they took
///
/// Of the process that answers, since its start; calls that tools make are not counted. As JSON, by the second.
#[derive(Debug, Args)]
pub(super) struct Stats {
    #[command(flatten)]
    options: ObserverOptions,
}

impl Stats {
    pub(super) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let ObserverOptions { user_id, json, connection } = self.options;
        let backend = connection.open(domains).await?;
        let step = prost_types::Duration { seconds: STEP, nanos: 0 };
        let request = v1::GetStatsRequest { user_id, step: (!json).then_some(step), window: None };
        let stats = into_answer(backend.tools().get_stats(request)).await?;
        if json {
            return console::json(&json::plain(&stats)).map(|_| ());
        }
        table(&stats.buckets).print()?;
        console::say(&summary(&stats));
        Ok(())
    }
}

fn table(buckets: &[v1::StatsBucket]) -> Table {
    Table::new(buckets.iter().map(row)).with_heading([
        "FROM",
        "CALLS",
        "FAILED",
        "HALF",
        "99 OF 100",
        "ERRORS",
    ])
}

fn row(it: &v1::StatsBucket) -> [String; 6] {
    let failed: u32 = it.errors.iter().map(|error| error.calls).sum();
    let errors = it.errors.iter().map(|error| format!("{} {}", words::error_code(error.code()), error.calls));
    [
        it.time.as_ref().map(ToString::to_string).unwrap_or_default(),
        it.calls.to_string(),
        failed.to_string(),
        took(it.p50),
        took(it.p99),
        errors.collect::<Vec<_>>().join(", "),
    ]
}

/// The bound in words; empty without calls.
fn took(duration: Option<prost_types::Duration>) -> String {
    let duration = duration.and_then(|it| Duration::try_from(it).ok());
    duration.map(|it| format!("≤ {}", clock::exact_in_words(it))).unwrap_or_default()
}

fn summary(it: &v1::GetStatsResponse) -> String {
    let slots = match it.slots {
        0 => String::new(),
        slots => format!(", slots {slots} of which {} idle", it.idle_slots),
    };
    format!("running {}, waiting for a person {}{slots}", it.running, it.waiting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_minute_and_says_what_failed() {
        let of = |nanos| Some(prost_types::Duration { seconds: 0, nanos });
        let time = Some(prost_types::Timestamp { seconds: 1_768_557_600, nanos: 0 });
        let timeout = v1::ErrorCount { code: v1::ToolErrorCode::Timeout.into(), calls: 2 };
        let busy = v1::StatsBucket {
            time,
            calls: 12,
            errors: vec![timeout],
            p50: of(2_000_000),
            p99: of(500_000_000),
            ..Default::default()
        };
        let idle = v1::StatsBucket { time, ..Default::default() };
        let expected = "\
FROM                  CALLS  FAILED  HALF       99 OF 100  ERRORS
2026-01-16T10:00:00Z  12     2       ≤ 0.002 s  ≤ 0.5 s    TIMEOUT 2
2026-01-16T10:00:00Z  0      0
";
        assert_eq!(table(&[busy, idle]).render("", None), expected);
        let stats = v1::GetStatsResponse { running: 3, slots: 8, idle_slots: 7, ..Default::default() };
        assert_eq!(summary(&stats), "running 3, waiting for a person 0, slots 8 of which 7 idle");
    }
}
