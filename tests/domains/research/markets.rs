//! The market tools from call to source and back, over the embedded origin.

mod refusals;
mod rules;
mod support;
mod tools;
