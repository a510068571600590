//! The origin of a call, for records of it. Never a source of identity.

use std::net::IpAddr;

/// Where a call came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The face it came by.
    pub face: &'static str,
    /// The address that it came from, if it came over a connection.
    pub peer: Option<IpAddr>,
}

impl Origin {
    /// From a program, in its own process.
    pub const PROCESS: Self = Self { face: "cli", peer: None };
}
