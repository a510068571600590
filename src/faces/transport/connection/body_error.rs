//! The status of a request whose body cannot be read: its peer sent what is no body, or left.
//!
//! tonic takes both for a failure of this server.

use std::{error::Error, io, iter};

use tonic::{Code, Status};

use crate::contract::status;

/// The status that an error of a request's body stands for.
pub(super) fn status(error: hyper::Error) -> Status {
    let cause = io_error(&error).map(|cause| (cause.kind(), cause.to_string()));
    let status = Status::from_error(Box::new(error));
    match (cause, status.code()) {
        // HTTP/1: what hyper read is no chunk, or the peer ended before the body did.
        (
            Some((
                io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof,
                what,
            )),
            _,
        ) => malformed(&what),
        // HTTP/2: the stream broke a rule of the protocol.
        (None, Code::Internal) => malformed(status.message()),
        // tonic takes CANCELLED of a request's body for its end: half an upload would be stored as a whole one.
        (_, Code::Internal | Code::Unknown | Code::Cancelled) => {
            Status::aborted("the caller left, or the connection was lost, within the request")
        }
        _ => status,
    }
}

fn malformed(what: &str) -> Status {
    let message = format!("the body of the request cannot be read: {what}");
    status::plain(Code::InvalidArgument, "MALFORMED_REQUEST", &message)
}

fn io_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a io::Error> {
    iter::successors(Some(error), |&cause| cause.source()).find_map(<dyn Error>::downcast_ref)
}
