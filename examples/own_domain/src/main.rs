//! Toolwire with the tools of Acme beside the bundled ones.

mod parking;

fn main() -> std::process::ExitCode {
    let mut domains = toolwire::domains::bundled();
    domains.push(parking::domain());
    toolwire::cli::run(std::env::args_os(), &domains)
}
