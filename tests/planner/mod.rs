//! The embedded planner over the bundled tools: questions, what it makes of them, and how often that is right.

mod consent;
mod follow_ups;
mod left_out;
mod listed;
mod lists;
mod offered;
mod questions;
mod repeats;
mod scores;
mod short_wordings;
mod wordings;
