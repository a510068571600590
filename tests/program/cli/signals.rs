//! Signals that end a server.

use std::process::Stdio;

use rustix::process::Signal;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    time::timeout,
};

use super::{TIMEOUT, connect, exit_code, send, served_with_log};

#[tokio::test]
async fn a_second_signal_ends_a_drain() {
    for signal in [Signal::INT, Signal::TERM] {
        let directory = tempfile::tempdir().unwrap();
        let (mut child, address) = served_with_log(&directory, "20s", Stdio::piped()).await;
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        // An idle server would end at the first.
        let _connected = connect(&address).await;
        // Two of a kind that come before the first is taken up are one.
        send(&child, Signal::TERM);
        let drains = async { while !log.next_line().await.unwrap().unwrap().contains("draining") {} };
        timeout(TIMEOUT, drains).await.expect("it drains");
        send(&child, signal);
        assert_eq!(exit_code(child).await, Some(130), "{signal:?}");
    }
}
