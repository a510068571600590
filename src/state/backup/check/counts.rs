//! Checks of counters that are maintained incrementally, each against a recount.

use super::report::Report;
use toolwire_db::{
    Error,
    sql::{Connection, Statement},
};

/// A counter, and the query that verifies it.
const COUNTS: &[(&str, &str)] = &[
    (
        "idempotency_total",
        "SELECT (SELECT bytes FROM idempotency_total) = (SELECT coalesce(SUM(bytes), 0) FROM idempotency)",
    ),
    (
        "idempotency_usage",
        "SELECT NOT EXISTS (SELECT user_id, count(*), SUM(bytes) FROM idempotency GROUP BY user_id \
      EXCEPT SELECT user_id, records, bytes FROM idempotency_usage)",
    ),
    (
        "confirmation_total",
        "SELECT (SELECT bytes FROM confirmation_total) = (SELECT coalesce(SUM(bytes), 0) FROM confirmations)",
    ),
    (
        "confirmation_usage",
        "SELECT NOT EXISTS (SELECT user_id, count(*), SUM(bytes) FROM confirmations GROUP BY user_id \
      EXCEPT SELECT user_id, records, bytes FROM confirmation_usage)",
    ),
    (
        "confirmation_positions",
        "SELECT NOT EXISTS (SELECT 1 FROM confirmations c LEFT JOIN confirmation_positions p \
      ON p.user_id = c.user_id GROUP BY c.user_id HAVING coalesce(max(p.last), 0) < max(c.position))",
    ),
    (
        "kept_results_total",
        "SELECT (SELECT bytes FROM kept_results_total) = (SELECT coalesce(SUM(bytes), 0) FROM kept_results)",
    ),
    (
        "kept_results_usage",
        "SELECT NOT EXISTS (SELECT user_id, count(*), SUM(bytes) FROM kept_results GROUP BY user_id \
      EXCEPT SELECT user_id, records, bytes FROM kept_results_usage)",
    ),
    ("audit_total", "SELECT (SELECT records FROM audit_total) = (SELECT count(*) FROM audit)"),
    (
        "audit_usage",
        "SELECT NOT EXISTS (SELECT user_id, count(*) FROM audit GROUP BY user_id \
      EXCEPT SELECT user_id, records FROM audit_usage)",
    ),
    (
        "results_usage",
        "SELECT (SELECT bytes FROM results_usage) = (SELECT coalesce(SUM(bytes), 0) FROM results)",
    ),
    (
        "timeline_usage",
        "SELECT NOT EXISTS (SELECT user_id, count(*), SUM(bytes) FROM tasks GROUP BY user_id \
      EXCEPT SELECT user_id, tasks, bytes FROM timeline_usage) \
      AND NOT EXISTS (SELECT user_id FROM timeline_usage WHERE tasks > 0 EXCEPT SELECT user_id FROM tasks) \
      AND NOT EXISTS (SELECT 1 FROM tasks t LEFT JOIN timeline_usage u \
      ON u.user_id = t.user_id GROUP BY t.user_id HAVING coalesce(max(u.last), 0) < max(t.position))",
    ),
];

pub(super) async fn check(connection: &mut Connection, report: &mut Report) -> Result<(), Error> {
    for (table, query) in COUNTS {
        let is_right = Statement::<bool>::new(query, Vec::new()).one(connection).await?;
        if !is_right {
            report.problems.push(format!("{table} does not count what there is"));
        }
    }
    report.checks.push(format!("{} counts", COUNTS.len()));
    Ok(())
}
