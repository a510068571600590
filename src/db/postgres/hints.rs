//! Hints to other processes that something was committed: they say only *look*, and a lost one costs a second.

use std::{sync::Arc, time::Duration};

use tokio::{sync::Notify, task::AbortHandle, time::sleep};

use super::connections::Connections;
use crate::{Error, sql::sql};

/// Commits of this long share a hint.
const JOINED_FOR: Duration = Duration::from_millis(10);

/// Sends hints after commits. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Hints(Arc<Sender>);

#[derive(Debug)]
struct Sender {
    committed: Arc<Notify>,
    task: AbortHandle,
}

impl Hints {
    pub(super) fn begin(connections: &Connections, channel: String) -> Self {
        let committed = Arc::new(Notify::new());
        let task =
            tokio::spawn(send_all(connections.clone(), channel, Arc::clone(&committed))).abort_handle();
        Self(Arc::new(Sender { committed, task }))
    }

    /// Lets a hint be sent soon.
    pub(super) fn send(&self) {
        self.0.committed.notify_one();
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn send_all(connections: Connections, channel: String, committed: Arc<Notify>) {
    loop {
        committed.notified().await;
        sleep(JOINED_FOR).await;
        // Outside of the transactions: there it would let their commits wait for each other.
        if let Err(error) = send(&connections, &channel).await {
            tracing::debug!(?error, "a hint of a commit was not sent");
        }
    }
}

async fn send(connections: &Connections, channel: &str) -> Result<(), Error> {
    let mut connection = connections.acquire().await?;
    sql!("SELECT pg_notify({channel}, '')").run(&mut connection).await
}
