//! Planners that ask a model. Not here: the trait of a planner, and the one that needs no model (`toolwire-planner`).

pub mod json_planner;
pub mod native_planner;
