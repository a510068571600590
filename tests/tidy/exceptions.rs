//! What still breaks a rule. These lists only shrink: an exception that nothing needs any more fails its test.

/// Files above the cap of code or of tests, each with its reason.
pub(crate) const TOO_LONG: &[(&str, &str)] = &[];

/// Imports from a room above.
pub(crate) const UPWARD: &[&str] = &[];

/// Rooms that import each other.
pub(crate) const ROOMS_IN_CIRCLES: &[&str] = &[];

/// Files of one room that stand on each other.
pub(crate) const FILES_IN_CIRCLES: &[&str] = &[];

/// Files of the platform that name a domain or what belongs to one, until that is the domain's own.
pub(crate) const NAMES_A_DOMAIN: &[&str] = &[];

/// Files whose comments or texts are not in plain words.
pub(crate) const RIDDLES: &[&str] = &[];

/// Files with comments that are too wide.
pub(crate) const WIDE_COMMENTS: &[&str] = &[];
