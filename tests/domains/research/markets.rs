//! The market tools from call to source and back, over the embedded origin.

mod refused;
mod rules;
mod support;
mod tools;
