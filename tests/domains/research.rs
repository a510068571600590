//! The research tools over their real connectors: the embedded origin, or a stub that misbehaves.

mod advice;
mod catalogue;
mod composites;
mod contradictions;
mod credentials;
mod isolation;
mod item_by_item;
mod lists;
mod lookups;
mod markets;
mod screener;
mod screens;
mod shapes;
mod single_flight;
pub(crate) mod support;
mod watchlists;
