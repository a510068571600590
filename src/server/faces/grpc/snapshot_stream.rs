//! A stream in two parts: a snapshot, sent at once and in large pieces, then the changes, whose buffer is small because
//! they live long.
//!
//! A handler makes the first part a [`SnapshotPart`] and puts it into the extensions of its response; the response's
//! own stream is the second. The two are joined where the service is served.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_util::Stream;
use http::{HeaderMap, Response};
use prost::Message;
use tonic::{
    Status,
    body::Body,
    codec::{CompressionEncoding, EncodeBody, SingleMessageCompressionOverride},
};

use toolwire_contract::codec::Encoder;
use toolwire_transport::PolledFrame;

/// Makes the body of the first part, compressed as the rest is.
type Make = Box<dyn FnOnce(Option<CompressionEncoding>) -> Body + Send>;

/// The first part of a response. Taken out once.
#[derive(Clone)]
pub(super) struct SnapshotPart(Arc<Mutex<Option<Make>>>);

impl SnapshotPart {
    /// The messages of a stream that is always ready: it is sent before anything else of the response.
    pub(super) fn new<T: Message + 'static>(
        stream: impl Stream<Item = Result<T, Status>> + Send + 'static,
    ) -> Self {
        let make = |compression: Option<CompressionEncoding>| {
            let each = SingleMessageCompressionOverride::default();
            Body::new(EncodeBody::new_server(Encoder::<T>::of_list(), stream, compression, each, None))
        };
        Self(Arc::new(Mutex::new(Some(Box::new(make)))))
    }

    fn take(self, compression: Option<CompressionEncoding>) -> Option<Body> {
        let make = self.0.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(make(compression))
    }
}

/// The response with its first part, if it has one. `compression` is used if the response declares an encoding.
pub(super) fn join(mut response: Response<Body>, compression: CompressionEncoding) -> Response<Body> {
    let Some(leading) = response.extensions_mut().remove::<SnapshotPart>() else { return response };
    let is_compressed = response.headers().contains_key("grpc-encoding");
    let first = leading.take(is_compressed.then_some(compression));
    response.map(|then| Body::new(Joined { first, then }))
}

/// The first part, then the rest. If the first ends with a status that is not OK, there is no rest.
struct Joined {
    first: Option<Body>,
    then: Body,
}

impl http_body::Body for Joined {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> PolledFrame<Self> {
        if let Some(first) = &mut self.first {
            match ready!(Pin::new(first).poll_frame(cx)) {
                Some(Ok(frame)) if frame.trailers_ref().is_none_or(|it| !is_ok(it)) => {
                    return Poll::Ready(Some(Ok(frame)));
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                // Its buffer goes with it.
                Some(Ok(_)) | None => self.first = None,
            }
        }
        Pin::new(&mut self.then).poll_frame(cx)
    }
}

fn is_ok(trailers: &HeaderMap) -> bool {
    trailers.get("grpc-status").is_some_and(|status| status == "0")
}
