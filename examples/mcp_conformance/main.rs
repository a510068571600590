//! The server that the conformance suite of MCP is run against.
//!
//! The suite tests a server that offers all that the protocol has, and fails one that offers only tools. So this is
//! Toolwire with the tools that the suite calls (`tools`), and at `/conformance` the handler of its face within one
//! that adds the rest (`everything`).
//!
//! ```sh
//! mkdir -p conformance && cp -r data/conformance conformance/tools
//! cargo run --example mcp_conformance -- serve --http=127.0.0.1:50080 --data conformance
//! conformance server --url http://127.0.0.1:50080/conformance --requirements 2026-07-28
//! ```

mod documents;
mod everything;
mod input;
mod more;
mod tools;

use std::{env, process::ExitCode};

use toolwire::server::domain::Domain;

fn main() -> ExitCode {
    toolwire::cli::run(env::args_os(), &[Domain { routes: more::routes, ..tools::domain() }])
}
