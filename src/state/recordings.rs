//! Arguments and results of calls, recorded for people who look at them.
//!
//! Only sealed data comes here: a copy of the database reveals none of it. Not here: which calls are recorded, the
//! keys, and who may read them.

pub(crate) mod rows;

use std::time::{Duration, SystemTime};

use toolwire_tool::context::{CallId, UserId};

/// How long a recording is kept.
pub const RETENTION: Duration = Duration::from_hours(24);

/// Maximum size of the recordings of a user in bytes. Beyond it the oldest are deleted.
pub const MAX_BYTES_OF_USER: u64 = 64 * 1024 * 1024;

/// Maximum number of recordings of a user. Beyond it the oldest are deleted.
pub const MAX_ROWS_OF_USER: u64 = 10_000;

/// A recording that is to be kept for [`RETENTION`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRecording {
    pub user: UserId,
    pub call_id: CallId,
    pub sealed: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    pub sealed: Vec<u8>,
    pub expires_at: SystemTime,
}
