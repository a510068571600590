//! The bounds that hold for every kind of provider, each stated once.

use std::time::Duration;

pub const MAX_OFFERS: usize = 1_000;
/// One offer, in bytes.
pub const MAX_OFFER: usize = 256 * 1024;
/// The description of an offer, in bytes.
pub const MAX_DESCRIPTION: usize = 16 * 1024;
/// The title of an offer, in characters.
pub const MAX_TITLE: usize = 200;
/// A tag, and the version, in characters.
pub const MAX_LABEL: usize = 64;
/// Tags of an offer, and likewise lines of guidance, examples and bound arguments.
pub const MAX_ENTRIES: usize = 100;
/// Examples of an offer, in bytes: each is checked against the schema.
pub const MAX_EXAMPLES: usize = 16 * 1024;
/// Parts of the schemas and conditions of a catalogue, once references are inlined. A pattern counts by its size.
pub const MAX_PARTS: usize = 200_000;
/// Problems of one offer that a verdict names.
pub const MAX_PROBLEMS: usize = 10;
/// The pointer of a problem, and its description, in bytes.
pub const MAX_PROBLEM_TEXT: usize = 1_024;
/// The problems of one verdict, in bytes: those of a whole catalogue must fit into a message.
pub const MAX_VERDICT: usize = 3 * 1024;
/// The reasons why a whole catalogue is refused, in bytes: trailers, of which clients take 8 KiB, have them twice.
pub const MAX_REFUSALS: usize = 2 * 1024;
/// The refused offers of one provider that a listing has.
pub const MAX_LISTED_REFUSALS: usize = 100;

/// A message of either side, in bytes.
pub const MAX_MESSAGE: usize = 4 * 1024 * 1024;
/// Data of a chunk or an outcome, in bytes: with its envelope it must stay below what clients accept.
pub const MAX_DATA: usize = 3 * 1024 * 1024;
/// Arguments of a call, in bytes.
pub const MAX_ARGUMENTS: usize = 1024 * 1024;
/// Text of a progress event, in bytes.
pub const MAX_PROGRESS: usize = 1_024;
/// Text of an error, in bytes.
pub const MAX_ERROR: usize = 4_096;
/// Identifiers that a host chooses, in characters.
pub const MAX_ID: usize = 64;

/// Between two progress events of a call that reach its caller.
pub const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);
/// What must be left of a lost call's time for a second attempt.
pub const RETRY_NEEDS: Duration = Duration::from_secs(1);
/// Before its deadline a call stops waiting for a slot, so that its answer says what it waited for.
pub const WAIT_MARGIN: Duration = Duration::from_millis(100);
/// The wait that the error of a call without a slot advises.
pub const RETRY_AFTER: Duration = Duration::from_secs(1);
/// The longest wait that the error of a host advises.
pub const MAX_RETRY_AFTER: Duration = Duration::from_hours(1);

/// Without a slot until the tools of a provider are degraded, and until they are removed.
pub const DEGRADED_AFTER: Duration = Duration::from_secs(5);
pub const REMOVED_AFTER: Duration = Duration::from_mins(10);
