//! The brokerage: its data source, its tools and composites, against specification 000's examples and made-up books.

mod composites;
mod import;
mod source;
mod spec_000;
mod support;
mod tools;
