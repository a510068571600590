//! Debounces changes of files, which are written in parts: content counts as changed once it was the same in two
//! consecutive looks.

use std::mem;

use crate::digest::Digest;

/// Digests of some content: at the last look, and at the last attempt to use it.
#[derive(Debug)]
pub struct Debounce {
    last: Digest,
    tried: Digest,
}

impl Debounce {
    /// Begins with content that is in use.
    pub fn new(used: Digest) -> Self {
        Self { last: used, tried: used }
    }

    /// Whether content is to be tried that a look finds now: it is unchanged since the last look and was not tried
    /// yet. It then counts as tried.
    pub fn is_due(&mut self, now: Digest) -> bool {
        let is_settled = mem::replace(&mut self.last, now) == now;
        is_settled && mem::replace(&mut self.tried, now) != now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_due_once_and_only_after_it_has_settled() {
        let [first, half, second] = ["first", "half", "second"].map(|text| Digest::of_bytes(text.as_bytes()));
        let mut debounce = Debounce::new(first);
        let looks = [first, half, second, second, second, first, first].map(|now| debounce.is_due(now));
        assert_eq!(looks, [false, false, false, true, false, false, true]);
    }
}
