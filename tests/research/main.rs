//! The research tools (spec 004) over their real connectors: the embedded origin, or a stub that misbehaves.

mod catalogue;
mod flights;
mod isolation;
mod screener;
mod shapes;
mod support;
