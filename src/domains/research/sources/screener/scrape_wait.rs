//! The wait for a scrape of the same user by another process: there is one a day, and both use its result.
//!
//! By polling, since processes share a file and nothing else.

use std::{mem, sync::Arc, time::Duration};

use tokio::time::sleep;

use super::{PROFILE, progress::Progress};
use crate::store::screens::Screens;
use toolwire_base::clock;
use toolwire_db::StoreError;
use toolwire_tool::context::UserId;

/// Interval of polling.
const INTERVAL: Duration = Duration::from_millis(200);

/// Waits until no scrape of the user is under way, and reports the wait once. For a process that was killed, that is
/// the deadline of its scrape.
pub(super) async fn wait_end(
    screens: &Arc<dyn Screens>,
    user: &UserId,
    progress: &Progress,
) -> Result<(), StoreError> {
    let mut is_reported = false;
    while let Some(ends_by) = screens.scrape_under_way(user, screens.now()).await? {
        if !mem::replace(&mut is_reported, true) {
            let left = ends_by.duration_since(screens.now()).unwrap_or_default();
            let (left, title) = (clock::wait_in_words(left), PROFILE.title);
            progress.set(format!("Waiting at most {left} for another process that reads {title}…"));
        }
        sleep(INTERVAL).await;
    }
    Ok(())
}
