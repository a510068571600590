//! The log's way out: lines wait in a bounded queue for a thread of their own, so that a reader who stalls holds nobody
//! up.
//!
//! A line that finds no room is dropped and counted; the count is a line of its own as soon as the reader is back. Not
//! here: what a line looks like.

use std::{
    cell::RefCell,
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use tracing_subscriber::fmt::MakeWriter;

/// How many bytes may wait: some thousand lines.
const MAX_WAITING: usize = 2 * 1024 * 1024;

thread_local! {
    /// On the thread that writes: what it has to say itself, which must not wait behind what waits for it.
    static OWN_LINE: RefCell<Option<Vec<u8>>> = const { RefCell::new(None) };
}

/// Takes lines. Cheap to clone; clones share state.
#[derive(Clone, Debug)]
pub(super) struct LogQueue {
    messages: mpsc::Sender<Message>,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    /// Bytes that were taken and are not written yet.
    waiting: AtomicUsize,
    /// Lines that were dropped and are not told of yet.
    dropped: AtomicU64,
}

#[derive(Debug)]
enum Message {
    Line(Vec<u8>),
    /// To be answered once everything before it is written.
    Flush(mpsc::Sender<()>),
}

impl LogQueue {
    /// A queue, and the thread that writes what comes through it.
    pub(super) fn start(out: impl Write + Send + 'static) -> io::Result<Self> {
        let (messages, received) = mpsc::channel();
        let counts = Arc::<Counts>::default();
        let of_thread = Arc::clone(&counts);
        thread::Builder::new().name("log".to_owned()).spawn(move || write(&received, &of_thread, out))?;
        Ok(Self { messages, counts })
    }

    /// Waits until everything so far is written, but no longer than this.
    pub(super) fn flush(&self, timeout: Duration) {
        let (done, flushed) = mpsc::channel();
        if self.messages.send(Message::Flush(done)).is_ok() {
            let _ = flushed.recv_timeout(timeout);
        }
    }

    fn take(&self, line: &[u8]) {
        let grown = |waiting: usize| waiting.checked_add(line.len()).filter(|bytes| *bytes <= MAX_WAITING);
        if self.counts.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grown).is_err() {
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        }
        // The thread ends with the process.
        let _ = self.messages.send(Message::Line(line.to_vec()));
    }
}

/// Writes for as long as there is a queue. A line that cannot be written is lost: there is no other place to report it.
fn write(received: &mpsc::Receiver<Message>, counts: &Counts, mut out: impl Write) {
    for message in received {
        match message {
            Message::Line(line) => {
                let _ = out.write_all(&line);
                counts.waiting.fetch_sub(line.len(), Ordering::Relaxed);
                let dropped = counts.dropped.swap(0, Ordering::Relaxed);
                if dropped > 0 {
                    let _ = out.write_all(&told(dropped));
                }
            }
            Message::Flush(done) => {
                let _ = done.send(());
            }
        }
    }
}

/// The line that tells how many were dropped, in the form of all lines.
fn told(dropped: u64) -> Vec<u8> {
    OWN_LINE.set(Some(Vec::new()));
    tracing::warn!(dropped, "lines of the log were dropped: whoever reads it did not keep up");
    OWN_LINE.take().unwrap_or_default()
}

impl MakeWriter<'_> for LogQueue {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// Each event is written at once, as a whole.
impl Write for LogQueue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let is_own = OWN_LINE.with_borrow_mut(|own| own.as_mut().map(|own| own.extend_from_slice(line)));
        if is_own.is_none() {
            self.take(line);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
