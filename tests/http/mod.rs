//! The HTTP listener on the wire: a real server on port 0, raw sockets and real clients.

mod agui;
mod backlog;
mod bounds;
mod console;
mod drain;
mod early_refusals;
mod every_route;
mod header_checks;
mod history;
pub(crate) mod house;
mod identity;
pub(crate) mod issuers;
mod leaving;
mod page;
mod pressure;
pub(crate) mod raw;
mod rest;
mod smuggling;
mod specified;
mod step_up;
pub(crate) mod svids;
pub(crate) mod talk;
mod tls;
mod toys;
mod withdrawn_rights;
