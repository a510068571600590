//! Notices that the other end of standard input is closed, which a read shows only after all that was written before.

use std::{future::pending, io, thread};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};
use tokio::sync::oneshot;

/// What is looked for besides a pipe's end, which needs no flag.
#[cfg(target_os = "linux")]
const END_OF_SOCKET: PollFlags = PollFlags::RDHUP;
#[cfg(not(target_os = "linux"))]
const END_OF_SOCKET: PollFlags = PollFlags::empty();

/// Waits until the other end is closed; for ever where standard input has none.
pub(super) async fn hung_up() {
    let (end, ended) = oneshot::channel();
    // A thread of its own, which the end of the runtime does not wait for.
    thread::spawn(move || {
        let stdin = io::stdin();
        let is_over = loop {
            match poll(&mut [PollFd::new(&stdin, END_OF_SOCKET)], None) {
                Ok(_) => break true,
                Err(Errno::INTR) => {}
                Err(_) => break false,
            }
        };
        if is_over {
            let _ = end.send(());
        }
    });
    if ended.await.is_err() {
        pending::<()>().await;
    }
}
