//! The brokerage: its data source, its tools and composites, against the examples of its specification and made-up
//! books.

mod composites;
mod examples;
mod import;
mod source;
mod support;
mod tools;
mod topics;
