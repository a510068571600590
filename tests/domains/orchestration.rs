//! The tools of orchestration that execute code, over the workspace of a task, and over a search that is
//! embedded, a stub, or not there; and models that are stubs.

mod asked;
mod disabled_tools;
mod documents;
mod search;
pub(crate) mod support;
