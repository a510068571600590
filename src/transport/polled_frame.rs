//! The result of polling a body.

use std::task::Poll;

use http_body::{Body, Frame};

/// The next frame of a body, an error, or its end; or pending.
pub type PolledFrame<B> = Poll<Option<Result<Frame<<B as Body>::Data>, <B as Body>::Error>>>;
