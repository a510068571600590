//! The log's writer: lines wait in a bounded buffer for a thread of their own, so that a stalled reader blocks no
//! caller. Lines that gather during a write are written together.
//!
//! A line for which the buffer has no room is dropped and counted; the count is logged once the reader is back. Not
//! here: the form of a line.

use std::{
    cell::RefCell,
    io::{self, Write},
    mem,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use tracing_subscriber::fmt::MakeWriter;

/// Maximum number of bytes that wait: a few thousand lines. As many more may be in the write under way.
const MAX_WAITING: usize = 1024 * 1024;

/// How long lines gather before they are written together: each write is a system call and wakes the reader.
const BATCH_DELAY: Duration = Duration::from_millis(1);

thread_local! {
    /// On the thread that writes: takes the line that it logs itself, which in the buffer would wait for this very
    /// thread.
    static OWN_LINE: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

/// Takes lines. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub(super) struct LogQueue(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// Signalled when the buffer is no longer empty.
    filled: Condvar,
    /// Signalled when everything so far is written.
    emptied: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Lines to be written.
    waiting: Vec<u8>,
    /// Number of lines that were dropped and are not reported yet.
    dropped: u64,
    /// Whether the thread is gathering or writing lines: then it looks again by itself.
    is_writing: bool,
}

impl LogQueue {
    /// A queue, and the thread that writes what comes through it.
    pub(super) fn start(out: impl Write + Send + 'static) -> io::Result<Self> {
        let shared = Arc::<Shared>::default();
        let of_thread = Arc::clone(&shared);
        thread::Builder::new().name("log".to_owned()).spawn(move || of_thread.write_to(out))?;
        Ok(Self(shared))
    }

    /// Waits until everything so far is written, but no longer than this.
    pub(super) fn flush(&self, timeout: Duration) {
        let state = self.0.lock();
        let is_busy = |state: &mut State| !state.waiting.is_empty() || state.is_writing;
        // Whether it timed out makes no difference: the process ends.
        let _ = self.0.emptied.wait_timeout_while(state, timeout, is_busy);
    }

    fn push(&self, line: &[u8]) {
        let mut state = self.0.lock();
        if state.waiting.len() + line.len() > MAX_WAITING {
            state.dropped += 1;
            return;
        }
        // One wake-up a batch: a thread that is busy looks again before it waits.
        let is_first = state.waiting.is_empty() && !state.is_writing;
        state.waiting.extend_from_slice(line);
        drop(state);
        if is_first {
            self.0.filled.notify_one();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes as long as the process lives. What cannot be written is lost: there is no other place to report it.
    fn write_to(&self, mut out: impl Write) {
        let mut lines = Vec::new();
        loop {
            let dropped = self.take_batch(&mut lines);
            let _ = out.write_all(&lines);
            lines.clear();
            if dropped > 0 {
                let _ = out.write_all(&report_dropped(dropped));
            }
        }
    }

    /// Waits for lines, takes all of them into the empty buffer `lines`, and returns how many were dropped meanwhile.
    fn take_batch(&self, lines: &mut Vec<u8>) -> u64 {
        let mut state = self.lock();
        state.is_writing = false;
        if state.waiting.is_empty() {
            self.emptied.notify_all();
        }
        let empty = |state: &mut State| state.waiting.is_empty();
        state = self.filled.wait_while(state, empty).unwrap_or_else(PoisonError::into_inner);
        // Before the sleep, so that `flush` waits for this batch and `push` wakes nothing.
        state.is_writing = true;
        drop(state);
        thread::sleep(BATCH_DELAY);
        let mut state = self.lock();
        mem::swap(&mut state.waiting, lines);
        mem::take(&mut state.dropped)
    }
}

/// The line that reports how many were dropped, in the form of all lines.
fn report_dropped(dropped: u64) -> Vec<u8> {
    OWN_LINE.set(Some(Vec::new()));
    tracing::warn!(dropped, "lines of the log were dropped: its reader did not keep up");
    OWN_LINE.take().unwrap_or_default()
}

impl MakeWriter<'_> for LogQueue {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// The formatting layer writes each event in one call, as a whole line.
impl Write for LogQueue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let is_own = OWN_LINE.with_borrow_mut(|own| own.as_mut().map(|own| own.extend_from_slice(line)));
        if is_own.is_none() {
            self.push(line);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
