//! What a follower of commits reads when it is notified.

/// The kind of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    Tasks,
    Jobs,
    Confirmations,
    AcceptedTools,
    /// Records of calls of other processes, and their cancellation requests. Never notified by commits of this process.
    Elsewhere,
}

impl From<Topic> for toolwire_db::Topic {
    fn from(topic: Topic) -> Self {
        Self::numbered(topic as usize)
    }
}
