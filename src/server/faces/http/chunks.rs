//! A body of many parts that exist already. It is sent in pieces of a size that suits the network, each made when the
//! connection has room for it, so that a stalled reader holds no memory.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body::{Frame, SizeHint};

use toolwire_transport::PolledFrame;

/// Minimum size of every piece but the last, in bytes.
pub const PIECE: usize = 24 * 1024;

/// The parts, one after the other, as a body whose length is known.
pub fn body(parts: Vec<Bytes>) -> Body {
    let left = parts.iter().map(|part| part.len() as u64).sum();
    Body::new(Pieces { parts: parts.into_iter(), left })
}

/// The next piece of the parts; `None` at the end.
pub fn next(parts: &mut impl Iterator<Item = Bytes>) -> Option<Bytes> {
    let first = parts.next()?;
    if first.len() >= PIECE {
        return Some(first);
    }
    let mut piece = BytesMut::with_capacity(PIECE + PIECE / 4);
    piece.extend_from_slice(&first);
    while piece.len() < PIECE
        && let Some(part) = parts.next()
    {
        piece.extend_from_slice(&part);
    }
    Some(piece.freeze())
}

struct Pieces<I> {
    parts: I,
    left: u64,
}

impl<I: Iterator<Item = Bytes> + Unpin> http_body::Body for Pieces<I> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _cx: &mut Context<'_>) -> PolledFrame<Self> {
        let piece = next(&mut self.parts);
        self.left -= piece.as_ref().map_or(0, |piece| piece.len() as u64);
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

#[cfg(test)]
mod tests {
    use http_body::Body as _;
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn parts_are_handed_on_in_large_pieces_and_their_length_is_known() {
        let parts: Vec<_> = (0..100_u8).map(|number| Bytes::from(vec![number; 1024])).collect();
        let mut body = body(parts.clone());
        assert_eq!(body.size_hint().exact(), Some(100 * 1024));
        let mut pieces = Vec::new();
        while let Some(frame) = body.frame().await {
            pieces.push(frame.unwrap().into_data().unwrap());
        }
        assert!(body.is_end_stream());
        assert_eq!(
            pieces.iter().map(Bytes::len).collect::<Vec<_>>(),
            [24, 24, 24, 24, 4].map(|it| it * 1024)
        );
        assert_eq!(pieces.concat(), parts.concat());
    }

    #[tokio::test]
    async fn a_part_that_is_large_enough_is_not_copied() {
        let large = Bytes::from(vec![1; PIECE]);
        let piece = next(&mut [large.clone()].into_iter()).unwrap();
        assert_eq!((piece.as_ptr(), piece.len()), (large.as_ptr(), large.len()));
    }
}
