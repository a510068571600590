//! Signals that are ignored when the program starts, as `nohup` and a shell's `&` leave them.

use std::path::Path;

use rustix::process::{Signal, kill_process};

use super::terminate;
use crate::support::program::Program;

/// A drain that takes no time.
const HASTY: [(&str, &str); 1] = [("TOOLWIRE_DRAIN_LAME_DUCK", "0s")];

#[tokio::test]
async fn a_signal_that_is_ignored_at_the_start_stays_ignored() {
    for (name, signal) in [("HUP", Signal::HUP), ("INT", Signal::INT)] {
        let mut program = Program::ignoring(name, &[], &HASTY).await;
        let (line, _) = program.wait_for_log("stay ignored").await;
        assert!(line["signals"].as_str().expect("a list").contains(name), "{line}");
        kill_process(program.pid(), signal).expect("running");
        terminate(&program);
        let (draining, before) = program.wait_for_log("draining").await;
        assert_eq!(draining["signal"], "SIGTERM", "{before:?}");
        assert!(program.wait_end().await.0.success());
    }
}

#[tokio::test]
async fn an_idle_server_ends_without_its_lame_duck_time() {
    let patient = [("TOOLWIRE_DRAIN_LAME_DUCK", "1h"), ("TOOLWIRE_DRAIN_FORCED_END", "1h")];
    let listeners = ["--http=127.0.0.1:0", "--admin", "127.0.0.1:0"];
    for (signal, arguments) in
        [(Signal::INT, &[][..]), (Signal::TERM, &[][..]), (Signal::TERM, &listeners[..])]
    {
        let mut program = Program::start(Path::new("."), arguments, &patient).await;
        kill_process(program.pid(), signal).expect("running");
        program.wait_for_log("drained").await;
        assert!(program.wait_end().await.0.success());
    }
}

/// What a service manager sends a daemon that is to read its settings again.
#[tokio::test]
async fn a_hang_up_without_a_terminal_has_the_settings_read_and_ends_nothing() {
    let mut program = Program::without_terminal(&[], &HASTY).await;
    for _ in 0..2 {
        kill_process(program.pid(), Signal::HUP).expect("running");
        let (line, before) = program.wait_for_log("the settings are read again").await;
        assert_eq!((&line["signal"], &line["level"]), (&"SIGHUP".into(), &"INFO".into()), "{before:?}");
        program.wait_for_log("are those of the settings now").await;
    }
    program.channel().await;
    terminate(&program);
    let (draining, before) = program.wait_for_log("draining").await;
    assert_eq!(draining["signal"], "SIGTERM", "{before:?}");
    assert!(program.wait_end().await.0.success());
}

#[tokio::test]
async fn a_terminal_that_is_closed_drains_the_server_in_it() {
    let mut program = Program::in_terminal(&[], &HASTY).await;
    program.channel().await;
    program.close_terminal();
    let (draining, before) = program.wait_for_log("draining").await;
    assert_eq!(draining["signal"], "SIGHUP", "{before:?}");
    program.wait_for_log("drained").await;
}

#[tokio::test]
async fn a_program_that_ignores_every_signal_to_end_serves_on() {
    let mut program = Program::ignoring("HUP INT TERM", &[], &HASTY).await;
    let (line, _) = program.wait_for_log("stay ignored").await;
    assert_eq!(line["signals"], "SIGTERM, SIGINT, SIGHUP");
    for signal in [Signal::HUP, Signal::INT, Signal::TERM] {
        kill_process(program.pid(), signal).expect("running");
    }
    program.channel().await;
    let log = program.kill().await;
    assert!(!log.contains("draining"), "{log}");
}
