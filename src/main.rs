//! The `toolwire` program: hands its command line to [`toolwire::cli`], and nothing else.

use std::{env, process::ExitCode};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    toolwire::cli::run(env::args_os())
}
