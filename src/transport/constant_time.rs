//! Compares secrets, so that the time of a comparison does not reveal how much of one was right.

/// Compares without an early end, but for the length, which is no secret.
pub(crate) fn is_equal(left: &[u8], right: &[u8]) -> bool {
    let difference = left.iter().zip(right).fold(0, |difference, (left, right)| difference | (left ^ right));
    left.len() == right.len() && difference == 0
}
