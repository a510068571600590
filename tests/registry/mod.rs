//! The registry from files to snapshots: what it refuses, derives, checks, reloads and says of its tools.

mod arguments;
mod conditions;
mod exports;
mod guidance;
mod hidden_arguments;
mod manifest_schema;
mod pages;
mod planner_hints;
mod properties;
mod quality;
mod refusals;
mod reload;
mod schemas;
mod services;
mod support;
