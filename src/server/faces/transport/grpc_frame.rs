//! The length-prefixed message of gRPC: a compressed flag of one byte, a length of four bytes, and the message.

/// The bytes before a message.
pub(in crate::faces) const HEAD: usize = 5;

/// What the first bytes of a frame say, once they have come: the flag, 0 for a message that is not compressed, and the
/// length of the message.
pub(in crate::faces) fn head(bytes: &[u8]) -> Option<(u8, usize)> {
    let [flag, length @ ..] = *bytes.first_chunk::<HEAD>()?;
    Some((flag, u32::from_be_bytes(length) as usize))
}
