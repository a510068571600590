//! Tokens of issuers, good and bad, signed by keys that the tests make.

mod groups;
mod issuers;
mod keys;
mod resource;
mod servers;
mod support;
mod svids;
mod tokens;
