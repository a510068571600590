//! Standard input as the sign of life of the process that started this one.

use std::{
    io::{self, ErrorKind, Read},
    thread,
};

use tokio::sync::oneshot;

/// Waits until standard input ends, or cannot be read. What is written there is not looked at.
pub(super) async fn wait_for_end() {
    let (end, ended) = oneshot::channel();
    // A thread of its own: a read that blocks would hold up the end of the runtime.
    thread::spawn(move || {
        read_to_end();
        let _ = end.send(());
    });
    let _ = ended.await;
}

fn read_to_end() {
    let mut bytes = [0; 256];
    loop {
        match io::stdin().read(&mut bytes) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
    }
}
