//! The length-prefixed message of gRPC: a compressed flag of one byte, a length of four bytes, and the message.

/// Length of the prefix in bytes.
pub const HEAD: usize = 5;

/// Parses the prefix: the flag, 0 for an uncompressed message, and the length of the message. `None` while fewer than
/// [`HEAD`] bytes are there.
pub fn head(bytes: &[u8]) -> Option<(u8, usize)> {
    let [flag, length @ ..] = *bytes.first_chunk::<HEAD>()?;
    Some((flag, u32::from_be_bytes(length) as usize))
}
