//! The HTTP listener on the wire: a real server on port 0, raw sockets and real clients.

mod agui;
mod bounds;
mod drain;
mod edge;
mod every_route;
mod history;
pub(crate) mod house;
mod identity;
mod leaving;
mod page;
mod pressure;
pub(crate) mod raw;
mod rest;
mod smuggling;
mod specified;
pub(crate) mod talk;
mod tls;
mod toys;
mod unread;
