//! The bounds of the protocol, each stated once. Not here: those of every kind of provider (`toolwire_providers`).

use std::time::Duration;

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;

/// Streams of one provider.
pub const MAX_SLOTS_OF_PROVIDER: usize = 256;
/// Names that hosts without credentials hold at a time: of their streams, and of tools that are not withdrawn yet.
pub const MAX_NAMES: usize = 1_000;
/// `Hello.program`, in bytes.
pub const MAX_PROGRAM: usize = 1_024;
/// Calls of one user that wait for a slot of one provider.
pub const MAX_WAITING_OF_USER: usize = 16;

/// Until the first `Hello`.
pub const GREETING: Duration = Duration::from_secs(10);
/// From the request for offers until they are here.
pub const OFFERING: Duration = Duration::from_secs(30);
/// Without a message in one of the two directions until `Ping`.
pub const SILENCE: Duration = Duration::from_mins(1);
/// From `Ping` until the slot counts as lost.
pub const PONG: Duration = Duration::from_secs(30);
/// From `Leave` of a slot without a call until the stream is ended here, and what a host may take to read its status.
pub const HALF_CLOSE: Duration = Duration::from_secs(10);

/// How long a call waits for `Late`.
pub const LATE_WAIT: Duration = Duration::from_secs(10);
/// How long `Late` replaces an unknown outcome.
pub const LATE_KEPT: Duration = Duration::from_mins(10);
/// Lost writes that are remembered; of more, the oldest are forgotten.
pub const MAX_LATE: usize = 16_384;
/// How often a `Late` asks whether the process that started its write lives.
pub const OTHER_PROCESS_INTERVAL: Duration = Duration::from_secs(2);
/// The most `Late`s of one provider that do, and their bytes, unless it is a single one.
pub const MAX_LATE_WAITING: usize = 256;
pub const MAX_LATE_BYTES: usize = 16 * 1024 * 1024;

/// What a host of a superseded catalogue waits before it dials in again.
pub const SUPERSEDED_RETRY: Duration = Duration::from_secs(5);
/// How long idle slots of a superseded catalogue still take calls, which began under its definitions.
pub const SUPERSEDED_GRACE: Duration = Duration::from_secs(1);
/// A host that was asked to wait and does not come again within this time is gone.
pub const WAITING_SEEN: Duration = Duration::from_secs(20);
/// How long a host is remembered of which every offer was refused.
pub const REFUSED_SEEN: Duration = Duration::from_mins(10);
/// The hosts of one provider without slots that are remembered.
pub const MAX_SEEN: usize = 256;
