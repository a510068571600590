//! Turns at the connections of the state: while more are wanted than there are, the next one that is free goes to the
//! user who has the fewest. Not here: the connections, and whose transactions exclude each other (`lane`).

use std::{sync::Arc, time::Duration};

use tokio::time::timeout;

use toolwire_base::{
    fair_semaphore::{FairSemaphore, Permit},
    offload,
};

/// A turn at one connection, until it is dropped.
pub(crate) type Turn = Permit<Arc<str>>;

/// As many turns as there are connections. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    permits: Arc<FairSemaphore<Arc<str>>>,
    limit: Duration,
}

impl Turns {
    /// Turns at this many connections, for each of which a caller waits at most this long.
    pub(crate) fn new(connections: u32, limit: Duration) -> Self {
        let count = connections as usize;
        Self { permits: Arc::new(FairSemaphore::new(count, count)), limit }
    }

    /// Waits for the turn of the user on whose behalf the caller runs.
    pub(crate) async fn wait(&self) -> Result<Turn, sqlx::Error> {
        let user = offload::user();
        if let Some(turn) = self.permits.try_acquire(user.as_ref()) {
            return Ok(turn);
        }
        let turn = timeout(self.limit, self.permits.acquire(user.as_ref())).await;
        turn.map_err(|_| sqlx::Error::PoolTimedOut)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_connection_that_is_free_goes_to_the_user_who_has_the_fewest() {
        let turns = Turns::new(2, Duration::from_secs(1));
        let wait = |user: &'static str| Box::pin(offload::on_behalf(Arc::from(user), turns.wait()));
        let mut held: Vec<_> = ["a", "a"].map(|user| wait(user).now_or_never().unwrap().unwrap()).into();
        let (mut more, mut other) = (wait("a"), wait("b"));
        assert!(more.as_mut().now_or_never().is_none() && other.as_mut().now_or_never().is_none());
        held.pop();
        assert!(more.as_mut().now_or_never().is_none());
        assert!(other.as_mut().now_or_never().is_some_and(|turn| turn.is_ok()));
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_too_long_for_a_connection_gets_none() {
        let turns = Turns::new(1, Duration::from_secs(1));
        let _held = turns.wait().await.unwrap();
        assert!(matches!(turns.wait().await, Err(sqlx::Error::PoolTimedOut)));
    }
}
