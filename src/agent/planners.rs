//! Planners that ask a model. Not here: the trait of a planner, and the one that needs no model (`toolwire-planner`).

pub mod native;
pub mod prompted;
