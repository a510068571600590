//! The signals that ask a process to end: SIGTERM, SIGINT, and SIGHUP of a terminal that was closed. To a process
//! without a terminal, SIGHUP means that its settings have changed, by the custom of daemons: it is no reason to end.
//!
//! A signal that is ignored when the process starts stays ignored: `nohup` and a shell's `&` ask for that, and
//! installing a handler would undo it. What was inherited is read from `/proc/self/status`, so that systems without it
//! install all handlers. SIGPIPE is ignored by the Rust runtime, and SIGQUIT has no handler, so both need nothing here.

use std::{
    fs::{self, File},
    future, io,
};

use tokio::{
    select,
    signal::unix::{Signal, SignalKind, signal},
};

use toolwire_server::console::Failure;

/// The signals that end a process, by the names people know.
const ENDING: [(&str, SignalKind); 3] = [
    ("SIGTERM", SignalKind::terminate()),
    ("SIGINT", SignalKind::interrupt()),
    ("SIGHUP", SignalKind::hangup()),
];

/// Handlers of the signals that ask a server to end; `None` where the process ignores the signal.
#[derive(Debug)]
pub(super) struct Signals {
    terminate: Option<Signal>,
    interrupt: Option<Signal>,
    hang_up: Option<Signal>,
    /// Whether the process has a terminal that can be closed.
    has_terminal: bool,
}

impl Signals {
    /// Listens from now on; the signals no longer kill the process by themselves.
    pub(super) fn install() -> io::Result<Self> {
        // Read first: a handler, once installed, hides what was inherited.
        let ignored = Ignored::read();
        let names = ENDING.iter().filter(|(_, kind)| ignored.contains(*kind)).map(|(name, _)| *name);
        let names: Vec<_> = names.collect();
        if !names.is_empty() {
            tracing::info!(signals = names.join(", "), "signals that were ignored at start stay ignored");
        }
        let install = |kind| (!ignored.contains(kind)).then(|| signal(kind)).transpose();
        let [(_, terminate), (_, interrupt), (_, hang_up)] = ENDING;
        Ok(Self {
            terminate: install(terminate)?,
            interrupt: install(interrupt)?,
            hang_up: install(hang_up)?,
            // The controlling terminal, to which no stream need lead. Once it is closed it cannot be opened.
            has_terminal: File::open("/dev/tty").is_ok(),
        })
    }

    /// Waits for any of them, and returns its name. A SIGHUP that ends nothing is handed to `on_hang_up`.
    pub(super) async fn any(&mut self, on_hang_up: impl Fn()) -> &'static str {
        let [terminate, interrupt, hang_up] = ENDING.map(|(name, _)| name);
        loop {
            select! {
                () = wait_for(&mut self.terminate) => return terminate,
                () = wait_for(&mut self.interrupt) => return interrupt,
                () = wait_for(&mut self.hang_up) => {
                    if self.has_terminal {
                        return hang_up;
                    }
                    on_hang_up();
                }
            }
        }
    }

    /// Waits for a second signal, which cuts the drain off. SIGHUP does not: service managers send it right after
    /// SIGTERM.
    pub(super) async fn abort_requested(&mut self) {
        select! {
            () = wait_for(&mut self.terminate) => {}
            () = wait_for(&mut self.interrupt) => {}
        }
    }
}

/// Every Ctrl-C from now on; none in a process that ignores SIGINT.
#[derive(Debug)]
pub(super) struct Interrupts(Option<Signal>);

impl Interrupts {
    pub(super) fn listen() -> Self {
        let is_ignored = Ignored::read().contains(SignalKind::interrupt());
        Self(if is_ignored { None } else { signal(SignalKind::interrupt()).ok() })
    }

    /// Waits for the next one, which may have come since the last call.
    pub(super) async fn next(&mut self) {
        wait_for(&mut self.0).await;
    }

    /// Runs `work`, and drops it at the next Ctrl-C. Boxed, since the future of some commands is large.
    pub(super) async fn unless<T>(
        &mut self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let work = Box::pin(work);
        select! {
            done = work => done,
            () = self.next() => Err(Failure::Interrupted),
        }
    }
}

/// Waits for Ctrl-C; for ever in a process that ignores SIGINT.
pub(super) async fn wait_for_interrupt() {
    Interrupts::listen().next().await;
}

/// Runs `work`, and drops it at the first Ctrl-C.
pub(super) async fn unless_interrupted(
    work: impl Future<Output = Result<(), Failure>>,
) -> Result<(), Failure> {
    Interrupts::listen().unless(work).await
}

async fn wait_for(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => future::pending().await,
    }
}

/// The set of signals that the process ignores: bit N - 1 stands for signal N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ignored(u64);

impl Ignored {
    fn read() -> Self {
        fs::read_to_string("/proc/self/status").map_or(Self(0), |status| Self::parse(&status))
    }

    fn parse(status: &str) -> Self {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        Self(mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0))
    }

    fn contains(self, kind: SignalKind) -> bool {
        let bit = kind.as_raw_value() - 1;
        u32::try_from(bit).is_ok_and(|bit| self.0.checked_shr(bit).is_some_and(|bits| bits & 1 == 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_ignored_signals_is_read_by_number() {
        // What `nohup` (SIGHUP, 1) and Rust's runtime (SIGPIPE, 13) leave.
        let ignored =
            Ignored::parse("Name:\ttoolwire\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000001001\n");
        assert!(ignored.contains(SignalKind::hangup()) && ignored.contains(SignalKind::pipe()));
        assert!(!ignored.contains(SignalKind::interrupt()) && !ignored.contains(SignalKind::terminate()));
        for unreadable in ["", "SigIgn:", "SigIgn:\tnone"] {
            assert_eq!(Ignored::parse(unreadable), Ignored(0), "{unreadable:?}");
        }
    }
}
