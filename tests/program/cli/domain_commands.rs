//! Commands of a domain that the crate does not know, through the same function as the bundled ones.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use toolwire::{
    cli,
    server::{
        console::Failure,
        domain::{Command, Domain},
    },
};

/// Spins a top
#[derive(Debug, Args)]
struct Spin {
    /// Where it is written how the top was spun
    #[arg(long)]
    note: PathBuf,
    colour: String,
}

fn spin(spin: Spin) -> Result<(), Failure> {
    if spin.colour == "grey" {
        return Err(Failure::Failed("there is no grey top".to_owned()));
    }
    fs::write(spin.note, spin.colour).map_err(|error| Failure::Failed(error.to_string()))
}

fn toys(name: &'static str) -> Domain {
    Domain { commands: vec![Command::alone("spin-top", spin)], ..Domain::new(name) }
}

fn run(note: &Path, colour: &str, domains: &[Domain]) -> String {
    let arguments = ["toolwire".into(), "spin-top".into(), "--note".into(), note.into(), colour.into()];
    format!("{:?}", cli::run(arguments, domains))
}

fn code(code: u8) -> String {
    format!("{:?}", ExitCode::from(code))
}

#[test]
fn a_domains_command_reads_its_arguments_and_gives_the_exit_code() {
    let directory = tempfile::tempdir().unwrap();
    let note = directory.path().join("note");
    assert_eq!(run(&note, "red", &[toys("toys")]), code(0));
    assert_eq!(fs::read_to_string(&note).unwrap(), "red");
    assert_eq!(run(&note, "grey", &[toys("toys")]), code(1));
    assert_eq!(run(&note, "red", &[]), code(2));
}

#[test]
fn nothing_is_run_where_two_domains_offer_one_command() {
    let directory = tempfile::tempdir().unwrap();
    let note = directory.path().join("note");
    assert_eq!(run(&note, "red", &[toys("toys"), toys("more_toys")]), code(2));
    assert!(!note.exists());
}
