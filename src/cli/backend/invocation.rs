//! A call to make, and what comes of it, whichever backend makes it.

use std::time::Duration;

use futures_util::stream::BoxStream;
use tonic::Status;

use toolwire_contract::proto::v1;
use toolwire_engine::pipeline::Target;
use toolwire_tool::context::{RequestId, SessionId, TaskLabel};

/// A call to make.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    /// What to call.
    pub(crate) target: Target,
    /// What to call it with, as JSON text.
    pub(crate) arguments: String,
    /// Recognises a repeat.
    pub(crate) request_id: Option<RequestId>,
    /// The task on whose behalf it is made.
    pub(crate) task_id: Option<TaskLabel>,
    /// The session it belongs to.
    pub(crate) session_id: Option<SessionId>,
    /// How long to wait for a person.
    pub(crate) wait_for_confirmation: Option<Duration>,
    /// Whether a person must approve it although its definition does not demand it.
    pub(crate) require_confirmation: bool,
    /// How long the call may take.
    pub(crate) deadline: Option<Duration>,
    /// The form of its result.
    pub(crate) result_format: v1::ResultFormat,
    /// The most tokens of what a model is to read; 0 for the usual ones.
    pub(crate) max_tokens: u32,
}

/// The events of a call. Dropping it cancels the call.
pub(crate) type Events = BoxStream<'static, Result<v1::CallEvent, Status>>;

/// What becomes of confirmations.
pub(crate) type Confirmations = BoxStream<'static, Result<v1::WatchConfirmationsResponse, Status>>;
