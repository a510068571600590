//! The embedded planner over the bundled tools: questions, what it makes of them, and how often that is right.

mod consent;
mod coverage;
mod follow_ups;
mod offered;
mod questions;
mod scores;
mod wordings;
