//! Callers with claims that are alike: a user of the file, a user of each of two issuers, and two workloads, of which
//! one is behind a trusted proxy. No route, RPC or method of MCP tells one of another: what another one has is answered
//! as what does not exist, and so is a tool that only another one may call.

mod callers;
mod compare;
mod mcp;
mod names;
mod rights;
mod routes;
mod rpcs;
mod watches;
