//! Waits for the end of the process with which this one is to end. It is known by its number: a shared descriptor could
//! be kept open by its children.

use std::time::Duration;

use rustix::process::{Pid, getppid, test_kill_process};
use tokio::time::sleep;

/// Between two looks, where the system has no descriptors of processes.
const INTERVAL: Duration = Duration::from_millis(250);

/// Reads the number of a process.
pub(super) fn parse(text: &str) -> Result<Pid, String> {
    let id = text.parse().ok().filter(|id: &i32| *id > 0).and_then(Pid::from_raw);
    id.ok_or_else(|| "must be the number of a process".to_owned())
}

/// Waits until a process has ended.
pub(super) async fn wait_for_end(id: Pid) {
    #[cfg(target_os = "linux")]
    if descriptor::wait_for_end(id).await {
        return;
    }
    // The children of a process get another parent before its own has taken note of its end.
    let is_parent = getppid() == Some(id);
    while test_kill_process(id) != Err(rustix::io::Errno::SRCH) && (!is_parent || getppid() == Some(id)) {
        sleep(INTERVAL).await;
    }
}

#[cfg(target_os = "linux")]
mod descriptor {
    use rustix::{
        io::Errno,
        process::{Pid, PidfdFlags, pidfd_open},
    };
    use tokio::io::{Interest, unix::AsyncFd};

    /// Waits for the end. False where there are no descriptors of processes.
    #[allow(deprecated, reason = "what replaces it is unsafe; an owned descriptor is what that asks for")]
    pub(super) async fn wait_for_end(id: Pid) -> bool {
        match pidfd_open(id, PidfdFlags::empty()) {
            Ok(process) => match AsyncFd::with_interest(process, Interest::READABLE) {
                Ok(process) => process.readable().await.is_ok(),
                Err(_) => false,
            },
            Err(error) => error == Errno::SRCH,
        }
    }
}
