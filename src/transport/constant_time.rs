//! Compares secrets, so that the time of a comparison does not reveal how much of one was right.

/// Compares without an early end, but for the length, which is no secret.
pub(crate) fn is_equal(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() {
        return false;
    }
    // Tokens may have a kilobyte, and each call compares one.
    let ((left, left_rest), (right, right_rest)) = (left.as_chunks::<8>(), right.as_chunks::<8>());
    let words = left.iter().zip(right);
    let words = words.fold(0, |difference, (left, right)| {
        difference | (u64::from_ne_bytes(*left) ^ u64::from_ne_bytes(*right))
    });
    let rest = left_rest.iter().zip(right_rest);
    let rest = rest.fold(0, |difference, (left, right)| difference | (left ^ right));
    words | u64::from(rest) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_and_the_length_count() {
        for length in 0..40_usize {
            let secret: Vec<_> = (0..length).map(|at| u8::try_from(at * 7).unwrap_or(1)).collect();
            assert!(is_equal(&secret, &secret.clone()));
            for at in 0..length {
                let mut other = secret.clone();
                other[at] ^= 0x40;
                assert!(!is_equal(&secret, &other) && !is_equal(&secret, &secret[..at]), "{at} of {length}");
            }
        }
    }
}
