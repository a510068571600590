//! The research tools (spec 004) over their real connectors: the embedded origin, or a stub that misbehaves.

#![allow(clippy::print_stdout, reason = "shows what it measures")]

mod catalogue;
mod isolation;
mod screener;
mod screens;
mod shapes;
mod single_flight;
mod support;
mod watchlists;
