//! The deadline of a call. Once fixed it is only ever shortened: nothing here sets a later instant.

use std::time::Duration;

use tokio::time::Instant;

use toolwire_base::clock;

/// The instant by which the work of a call has ended in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    at: Instant,
    /// The instant until which somebody waits for the end of the call. For a detached write it is earlier than `at`.
    awaited: Instant,
    /// `None` until the pipeline fixes it.
    latest: Option<Instant>,
}

impl Deadline {
    /// A deadline without a cap, for a new context.
    pub(super) fn new(at: Instant) -> Self {
        Self { at, awaited: at, latest: None }
    }

    /// The instant.
    pub fn at(self) -> Instant {
        self.at
    }

    /// Until when the caller waits. What has not begun by then is of no use to it.
    pub fn awaited(self) -> Instant {
        self.awaited
    }

    /// The time left; zero once it has passed.
    pub fn remaining(self) -> Duration {
        clock::remaining(self.at)
    }

    /// Shortens the deadline to the given instant, if that is earlier.
    #[must_use]
    pub fn no_later_than(self, at: Instant) -> Self {
        Self { at: self.at.min(at), awaited: self.awaited.min(at), ..self }
    }

    /// Shortens the time for which the caller waits to the given instant, if that is earlier.
    #[must_use]
    pub fn awaited_no_later_than(self, at: Instant) -> Self {
        Self { awaited: self.awaited.min(at), ..self }
    }

    /// Caps the deadline: not even a write that outlives its callers lasts longer than `latest`. An earlier cap stays,
    /// so the cap of the outermost call holds for all nested ones.
    #[must_use]
    pub fn cap(self, latest: Instant) -> Self {
        let latest = self.latest.map_or(latest, |earlier| earlier.min(latest));
        let at = self.at.min(latest);
        // A call nested in a detached write is awaited by that write.
        Self { at, awaited: at, latest: Some(latest) }
    }

    /// The deadline of a write that outlives its callers: its cap. Until when they wait stays.
    #[must_use]
    pub fn of_detached_write(self) -> Self {
        Self { at: self.latest.unwrap_or(self.at), awaited: self.at, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn nothing_makes_it_later() {
        let now = clock::now();
        let after = |seconds| now + Duration::from_secs(seconds);
        let deadline = Deadline::new(after(10));
        assert_eq!(deadline.no_later_than(after(20)), deadline);
        assert_eq!(deadline.no_later_than(after(5)).at(), after(5));
        assert_eq!(deadline.cap(after(20)).at(), after(10));
        assert_eq!(deadline.cap(after(5)).at(), after(5));
    }

    #[tokio::test(start_paused = true)]
    async fn a_detached_write_has_until_the_first_cap_and_no_longer() {
        let now = clock::now();
        let after = |seconds| now + Duration::from_secs(seconds);
        let deadline = Deadline::new(after(10));
        assert_eq!(deadline.of_detached_write().at(), after(10), "without a cap");
        let capped = deadline.cap(after(20));
        assert_eq!(capped.of_detached_write().at(), after(20));
        assert_eq!(capped.cap(after(30)).of_detached_write().at(), after(20));
        assert_eq!(capped.cap(after(15)).of_detached_write().at(), after(15));
    }

    #[tokio::test(start_paused = true)]
    async fn a_detached_write_is_awaited_by_its_caller_and_awaits_what_is_nested_in_it() {
        let now = clock::now();
        let after = |seconds| now + Duration::from_secs(seconds);
        let detached = Deadline::new(after(10)).cap(after(20)).of_detached_write();
        assert_eq!((detached.awaited(), detached.at()), (after(10), after(20)));
        assert_eq!(detached.no_later_than(after(5)).awaited(), after(5));
        let left_earlier = detached.awaited_no_later_than(after(5));
        assert_eq!((left_earlier.awaited(), left_earlier.at()), (after(5), after(20)));
        let nested = detached.cap(after(30));
        assert_eq!((nested.awaited(), nested.at()), (after(20), after(20)));
        assert_eq!(nested.of_detached_write().awaited(), after(20));
    }
}
