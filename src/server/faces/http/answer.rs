//! The response type of the layers of this listener.

use axum::body::Body;
use http::{Response, StatusCode};

pub(super) type Answer = Response<Body>;

/// One of nothing but a status.
pub(super) fn empty(status: StatusCode) -> Answer {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = status;
    answer
}
