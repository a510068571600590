//! A call to make, and what comes of it, whichever backend makes it.

use std::time::Duration;

use futures_util::stream::BoxStream;
use tonic::Status;

use crate::{
    context::{RequestId, SessionId, TaskLabel},
    contract::proto::v1,
    pipeline::Target,
};

/// A call to make.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Invocation {
    /// What to call.
    pub(in crate::cli) target: Target,
    /// What to call it with, as JSON text.
    pub(in crate::cli) arguments: String,
    /// Recognises a repeat.
    pub(in crate::cli) request_id: Option<RequestId>,
    /// The task on whose behalf it is made.
    pub(in crate::cli) task_id: Option<TaskLabel>,
    /// The session it belongs to.
    pub(in crate::cli) session_id: Option<SessionId>,
    /// How long to wait for a person.
    pub(in crate::cli) wait_for_confirmation: Option<Duration>,
    /// Whether a person must approve it although its definition does not demand it.
    pub(in crate::cli) require_confirmation: bool,
    /// How long the call may take.
    pub(in crate::cli) deadline: Option<Duration>,
    /// The form of its result.
    pub(in crate::cli) result_format: v1::ResultFormat,
    /// The most tokens of what a model is to read; 0 for the usual ones.
    pub(in crate::cli) max_tokens: u32,
}

/// The events of a call. Dropping it cancels the call.
pub(in crate::cli) type Events = BoxStream<'static, Result<v1::CallEvent, Status>>;

/// What becomes of confirmations.
pub(in crate::cli) type Confirmations = BoxStream<'static, Result<v1::WatchConfirmationsResponse, Status>>;
