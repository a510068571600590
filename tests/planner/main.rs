//! The embedded planner over the bundled tools: questions, what it makes of them, and how often that is right. It is a
//! program of its own, so that an edit of the planner is tried without a build of the whole suite.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![allow(clippy::print_stdout, reason = "figures to read, which no assertion may depend on")]

mod consent;
mod coverage;
mod follow_ups;
mod lists;
mod offered;
mod questions;
mod scores;
mod wordings;
