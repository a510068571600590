//! The `toolwire` program: hands the bundled domains to the command line, and nothing else.

use std::{env, process::ExitCode};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    toolwire::cli::run(env::args_os(), &toolwire::domains::bundled())
}
