//! The Model Context Protocol, over rmcp: no other crate names it.
//!
//! `server` is the face: tools for clients that speak the protocol, over HTTP and over standard input and output. It
//! translates requests and responses, and decides nothing: it calls the generated gRPC clients, as the command line
//! does. `upstream` makes MCP servers providers of tools: the client.
//!
//! Not here: the listener with users, hosts, origins and quotas, which is the server's.

pub mod server;
pub mod upstream;
