//! The bounds of MCP servers, each stated once. Those of offers and results are the ones of hosts.

use std::time::Duration;

use toolwire_providers::bounds::MAX_MESSAGE;

/// A message of a server, in bytes. Twice that of a host: a result stands in it as data and once more as text.
pub const MAX_ANSWER: usize = 2 * MAX_MESSAGE;
/// A line of a process, in bytes. Its connection is ended by a longer one, which may have no end.
pub const MAX_LINE: usize = 8 * MAX_ANSWER;
/// Calls of one server at once.
pub const MAX_CALLS: usize = 64;
/// Of them, calls of one user.
pub const MAX_CALLS_OF_USER: usize = 32;
/// Requests of a server that wait for an answer: of more, the connection is ended.
pub const MAX_REQUESTS: usize = 64;
/// Pages of a list.
pub const MAX_PAGES: usize = 100;
/// All tools of a list, in bytes.
pub const MAX_LIST: usize = 32 * 1024 * 1024;
/// The body of a refusal over HTTP, in bytes, and how long it is waited for.
pub const MAX_REFUSAL: usize = 64 * 1024;
pub const REFUSAL: Duration = Duration::from_secs(2);
/// Entries of a list that are reported as left out.
pub const MAX_LEFT_OUT: usize = 10;
/// What serves no call is read at this rate, in bytes a second. Each message or line counts as somewhat more than it
/// is.
pub const DISCARD_RATE: f64 = 2.0 * 1024.0 * 1024.0;
pub const MESSAGE_COST: usize = 128;
/// How long that rate may be saved up: what may come at once.
pub const DISCARD_BURST: Duration = Duration::from_secs(8);
/// A line that a process writes to its standard error, in bytes.
pub const MAX_LOG_LINE: usize = 1_024;

/// From the start of a connection until the protocol is agreed. A program may be fetched before it starts.
pub const CONNECT: Duration = Duration::from_mins(1);
/// For the answer to the probe of the newer revision over HTTP.
pub const PROBE: Duration = Duration::from_secs(5);
/// Between two attempts of a stream to go on, which a server may choose.
pub const MIN_RESUME: Duration = Duration::from_secs(1);
pub const MAX_RESUME: Duration = Duration::from_secs(30);
/// Attempts of a stream to go on that fail one after the other.
pub const MAX_RESUMES: usize = 4;
/// Until all pages of a list are here.
pub const LIST: Duration = Duration::from_secs(10);
/// Probe interval for a process, whose exit is noticed at once.
pub const PROBE_INTERVAL: Duration = Duration::from_mins(1);
/// Probe interval over HTTP, where a lost server goes unnoticed.
pub const HTTP_PROBE_INTERVAL: Duration = Duration::from_secs(15);
/// Without any message of a server until it counts as hung, even though calls of it are under way.
pub const HUNG_AFTER: Duration = Duration::from_mins(2);
/// Between two lists that a server or its calls give cause for. Changes that come within this time are one.
pub const LIST_INTERVAL: Duration = Duration::from_secs(1);
/// How long a call waits for a connection.
pub const RECONNECT: Duration = Duration::from_secs(5);
/// Between the two attempts of a call: at least, and at most while it is found out whether the session is lost.
pub const RETRY: Duration = Duration::from_millis(250);
pub const SETTLED: Duration = Duration::from_secs(2);
/// From the end of a process's input, and from its signal to end, until the next step.
pub const GRACE: Duration = Duration::from_secs(2);
/// For a message that cancels a call.
pub const CANCEL: Duration = Duration::from_secs(5);
/// Maximum wait before an attempt to connect that a server asks for.
pub const LONGEST_WAIT: Duration = Duration::from_mins(5);
/// Maximum back-off between two attempts to connect.
pub const LONGEST_BACKOFF: Duration = Duration::from_secs(30);
/// The back-off starts again after a connection whose tools were in service for this long.
pub const STEADY_AFTER: Duration = Duration::from_secs(10);
/// The execution of a tool, unless a file says otherwise.
pub const TIMEOUT: Duration = Duration::from_mins(1);
