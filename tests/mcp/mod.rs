//! MCP over HTTP and over standard input and output: what clients of both eras send, to the letter, and what they get.

mod bad_input;
mod broken_off;
mod calls;
mod changes;
pub(crate) mod client;
mod confirmation;
pub(crate) mod confirming;
mod deciding;
mod leaving;
mod listing;
mod plain;
mod read_on;
mod rounds;
mod search;
mod state;
mod stdio;
mod tasks;
mod traces;
mod traps;
mod upstream;
