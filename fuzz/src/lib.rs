//! What each fuzz target does with an input: reads it as the server would, and panics if what comes of it breaks a rule.
//!
//! `tests/fuzz` has this file as a module of its own, so that the corpora are tried by every `cargo test`. An input
//! that chooses among several readers names one in its first line.

pub mod arguments;
pub mod blocks;
pub mod grpc_timeout;
pub mod manifests;
pub mod paths;
pub mod queries;
pub mod sanitiser;
pub mod sources;
pub mod tables;
pub mod transcoders;

/// Takes an input.
pub type Target = fn(&[u8]);

/// The targets, by the names of their corpora.
pub const TARGETS: [(&str, Target); 10] = [
    ("arguments", arguments::run),
    ("blocks", blocks::run),
    ("grpc_timeout", grpc_timeout::run),
    ("manifests", manifests::run),
    ("paths", paths::run),
    ("queries", queries::run),
    ("sanitiser", sanitiser::run),
    ("sources", sources::run),
    ("tables", tables::run),
    ("transcoders", transcoders::run),
];

/// What an input names in its first line, out of a list, and the rest of it. A name that is not in the list stands for
/// some entry all the same, so that no mutation of it is lost.
fn choice<'a, T>(input: &'a [u8], list: &'a [(String, T)]) -> (&'a T, &'a [u8]) {
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (name, rest) = (&input[..end], input.get(end + 1..).unwrap_or_default());
    let named = list.iter().position(|(other, _)| other.as_bytes() == name);
    let some =
        || name.iter().fold(0_usize, |sum, byte| sum.wrapping_mul(31) + usize::from(*byte)) % list.len();
    (&list[named.unwrap_or_else(some)].1, rest)
}
