//! The `toolwire` program: chooses allocator and pages, and hands the bundled domains to the command line.

use std::{env, process::ExitCode};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    small_pages();
    toolwire::cli::run(env::args_os(), &toolwire::domains::bundled())
}

/// The allocator asks for pages of 2 MiB, of which a service that is idle would keep many that are nearly empty: half
/// of its memory.
fn small_pages() {
    #[cfg(target_os = "linux")]
    // Where it is refused, more memory is taken, and nothing else is different.
    let _ = rustix::thread::disable_transparent_huge_pages(true);
}
