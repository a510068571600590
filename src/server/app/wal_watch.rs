//! Keeps the write-ahead log of the state short, and warns operators while a reader keeps it from being truncated.

use std::{convert::Infallible, time::Duration};

use tokio::time::sleep;

use toolwire_db::Wal;
use toolwire_state::Store;
use toolwire_telemetry::metric;

/// How often the size is looked at.
const INTERVAL: Duration = Duration::from_secs(1);

/// The number of failed attempts that is worth a warning: a read that ends within seconds is not.
const FAILURES: u32 = 3;

/// The interval after that warning: each attempt blocks writers for a moment.
const HELD_INTERVAL: Duration = Duration::from_secs(5);

/// Looks for as long as it is polled.
pub(super) async fn run(state: &Store) -> Infallible {
    let mut failures = 0_u32;
    loop {
        // Kept as the last error of the state, which makes the process not ready although nothing is written.
        let _ = state.check_files();
        match state.truncate_wal().await {
            Ok(wal) => {
                metric::state_wal_size(wal.bytes());
                failures = count(failures, wal);
            }
            Err(error) => {
                failures = failures.saturating_add(1);
                if failures == FAILURES {
                    tracing::warn!(%error, "toolwire.db-wal cannot be truncated");
                }
            }
        }
        sleep(if failures < FAILURES { INTERVAL } else { HELD_INTERVAL }).await;
    }
}

/// The failed attempts in a row; each change of state has one line of the log.
fn count(failures: u32, wal: Wal) -> u32 {
    match wal {
        Wal::Held(bytes) => {
            let failures = failures.saturating_add(1);
            if failures == FAILURES {
                tracing::warn!(
                    bytes,
                    "toolwire.db-wal grows and cannot be truncated: another program has an open read transaction on \
                     toolwire.db; end it"
                );
            }
            failures
        }
        Wal::Short(_) | Wal::Truncated(_) => {
            if failures >= FAILURES {
                tracing::info!("toolwire.db-wal could be truncated again");
            }
            0
        }
    }
}
