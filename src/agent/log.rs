//! The events of one turn, for as long as it has readers: numbered once, and read by each reader from the first.
//!
//! A slow reader blocks neither the turn nor other readers. The events of a turn are kept until its last reader is
//! gone, and the budget of the turn bounds their number. Not here: what the events are.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};

use toolwire_base::clock;
use toolwire_contract::{
    Refusal,
    convert::timestamp,
    proto::{
        agent::v1::{TurnEvent, turn_event::Event},
        v1,
    },
};

/// The interval of progress events while a turn has no other.
pub const SILENCE: Duration = Duration::from_secs(15);

/// The events of a turn.
#[derive(Debug)]
pub struct Log {
    turn_id: String,
    recorded: Mutex<Recorded>,
    /// Every reader has a receiver, so that the channel is closed once there is none.
    changed: watch::Sender<()>,
}

#[derive(Debug)]
struct Recorded {
    events: Vec<Arc<TurnEvent>>,
    /// `Ok` once a terminal event is among the events; otherwise why there will be none.
    end: Option<Result<(), Refusal>>,
    last: Instant,
}

/// Reads the events of a turn, from the first on.
#[derive(Debug)]
pub struct Reader {
    log: Arc<Log>,
    changed: watch::Receiver<()>,
    next: usize,
    over: bool,
}

impl Log {
    /// The log of a turn, with its first reader: without a reader the turn would be abandoned at once.
    pub fn new(turn_id: String) -> (Arc<Self>, Reader) {
        let recorded = Recorded { events: Vec::new(), end: None, last: clock::now() };
        let (changed, receiver) = watch::channel(());
        let log = Arc::new(Self { turn_id, recorded: Mutex::new(recorded), changed });
        let reader = Reader { log: Arc::clone(&log), changed: receiver, next: 0, over: false };
        (log, reader)
    }

    pub fn read(self: &Arc<Self>) -> Reader {
        Reader { log: Arc::clone(self), changed: self.changed.subscribe(), next: 0, over: false }
    }

    /// Appends an event. After the end it is dropped.
    pub fn tell(&self, event: Event) {
        self.tell_of("", event);
    }

    /// Appends an event of a task.
    pub fn tell_of(&self, task_id: &str, event: Event) {
        let is_last = matches!(event, Event::Final(_) | Event::Paused(_));
        let mut recorded = self.lock();
        if recorded.end.is_some() {
            return;
        }
        let sequence = recorded.events.len() as u64;
        recorded.events.push(Arc::new(TurnEvent {
            turn_id: self.turn_id.clone(),
            task_id: task_id.to_owned(),
            sequence,
            event_time: Some(timestamp(clock::wall())),
            event: Some(event),
        }));
        recorded.last = clock::now();
        if is_last {
            recorded.end = Some(Ok(()));
        }
        drop(recorded);
        self.changed.send_replace(());
    }

    /// Ends the log without a terminal event.
    pub fn refuse(&self, refusal: Refusal) {
        let mut recorded = self.lock();
        if recorded.end.is_none() {
            recorded.end = Some(Err(refusal));
        }
        drop(recorded);
        self.changed.send_replace(());
    }

    /// Completes once the last reader is gone.
    pub async fn abandoned(&self) {
        self.changed.closed().await;
    }

    /// Appends a progress event whenever there was none for [`SILENCE`], for as long as it is polled.
    pub async fn keep_talking(&self) -> std::convert::Infallible {
        loop {
            let due = self.lock().last + SILENCE;
            if clock::now() >= due {
                let message = "Still working".to_owned();
                self.tell(Event::Progress(v1::Progress { fraction: None, message }));
            } else {
                sleep_until(due).await;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reader {
    /// The next event; `None` after the last. A refusal is an end too. Cancel safe.
    pub async fn next(&mut self) -> Option<Result<Arc<TurnEvent>, Refusal>> {
        loop {
            // Before the look at the events: one that is appended in between wakes the wait below.
            self.changed.mark_unchanged();
            match self.step() {
                Step::Event(event) => return Some(event),
                Step::Over => return None,
                Step::Nothing => {}
            }
            // Cannot fail: the reader holds the log, and the log holds the sender.
            let _ = self.changed.changed().await;
        }
    }

    fn step(&mut self) -> Step {
        if self.over {
            return Step::Over;
        }
        let recorded = self.log.lock();
        if let Some(event) = recorded.events.get(self.next) {
            self.next += 1;
            return Step::Event(Ok(Arc::clone(event)));
        }
        let Some(end) = recorded.end.clone() else { return Step::Nothing };
        self.over = true;
        end.err().map_or(Step::Over, |refusal| Step::Event(Err(refusal)))
    }
}

/// What a reader finds.
enum Step {
    Event(Result<Arc<TurnEvent>, Refusal>),
    /// There is nothing yet.
    Nothing,
    /// There is nothing more.
    Over,
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use toolwire_contract::proto::agent::v1::{AnswerDelta, Reply};

    fn delta(text: &str) -> Event {
        Event::AnswerDelta(AnswerDelta { text: text.to_owned() })
    }

    async fn rest(reader: &mut Reader) -> Vec<u64> {
        let mut sequences = Vec::new();
        while let Some(Ok(event)) = reader.next().await {
            sequences.push(event.sequence);
        }
        sequences
    }

    #[tokio::test]
    async fn every_reader_has_all_events_and_nothing_comes_after_the_last() {
        let (log, mut first) = Log::new("t".to_owned());
        log.tell(delta("a"));
        assert_eq!(first.next().await.unwrap().unwrap().sequence, 0);
        assert!(first.next().now_or_never().is_none());
        let mut second = log.read();
        log.tell(Event::Final(Reply::default()));
        log.tell(delta("late"));
        log.refuse(Refusal::DeadlineExceeded);
        assert_eq!((rest(&mut first).await, rest(&mut second).await), (vec![1], vec![0, 1]));
        assert!(second.next().await.is_none());
    }

    #[tokio::test]
    async fn a_refusal_is_told_once_after_what_was_said() {
        let (log, mut reader) = Log::new("t".to_owned());
        log.tell(delta("a"));
        log.refuse(Refusal::DeadlineExceeded);
        assert!(reader.next().await.unwrap().is_ok());
        assert_eq!(reader.next().await.unwrap().unwrap_err(), Refusal::DeadlineExceeded);
        assert!(reader.next().await.is_none());
    }

    #[tokio::test]
    async fn a_turn_is_abandoned_by_its_last_reader() {
        let (log, first) = Log::new("t".to_owned());
        let second = log.read();
        drop(first);
        assert!(log.abandoned().now_or_never().is_none());
        drop(second);
        assert!(log.abandoned().now_or_never().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_turn_says_that_it_goes_on() {
        let (log, mut reader) = Log::new("t".to_owned());
        let began = clock::now();
        tokio::select! {
            never = log.keep_talking() => match never {},
            event = reader.next() => {
                assert!(matches!(event.unwrap().unwrap().event, Some(Event::Progress(_))));
            }
        }
        assert_eq!(clock::now() - began, SILENCE);
    }
}
