//! Watches calls: those that run, then each that starts or ends. Those of this process come from its table of running
//! calls, those of other processes from the stored records (`remote`).

use std::{collections::VecDeque, sync::Arc, time::Duration};

use tokio::time::{Instant, sleep_until};

use super::{
    super::{
        changes::HEARTBEAT,
        page::{List, PageToken},
    },
    Calls, Filter, Record, VisibleUsers,
    stages::{StageBeginning, beginnings},
};
use toolwire_base::clock;
use toolwire_contract::Refusal;
use toolwire_engine::pipeline::{CallChange, CallInfo, Changes};
use toolwire_tool::context::User;

/// Maximum number of changes per read.
const AT_ONCE: usize = 500;

/// The least time between two reads of changes: a watch of a busy server must not read for each call.
const INTERVAL: Duration = Duration::from_millis(100);

/// A position: the process, the number of the next change there, and that of the next change of other processes.
const POSITION_BYTES: usize = 32;

/// An event of a watch, with the position after which a later watch goes on.
#[derive(Clone, Debug)]
pub struct WatchEvent {
    pub what: What,
    /// Empty until the running calls are complete: a watch that ends before then cannot be resumed.
    pub position: String,
}

#[derive(Clone, Debug)]
pub enum What {
    /// A call has started, or runs as the watch begins.
    Started(Box<Watched>),
    Ended(Box<Watched>),
    /// The running calls are complete.
    Synced,
    /// Changes after the position are not known any more; the running calls follow.
    Reset,
    /// There was no event for a while.
    Heartbeat,
}

/// A call in a watch.
#[derive(Clone, Debug)]
pub struct Watched {
    pub record: Record,
    /// The stages so far; none of a call of another process.
    pub stages: Vec<StageBeginning>,
}

/// Watches on behalf of one user.
#[derive(Debug)]
pub struct Watch {
    calls: Calls,
    user: User,
    filter: Filter,
    token: PageToken,
    /// The number of the next change of this process that is to be read, and of the next one of another process.
    next: (u64, u64),
    /// The same of the events that were made: where a later watch goes on.
    told: (u64, u64),
    /// Whether the next change is read as the beginning: the running calls, then `Synced`.
    is_synced: bool,
    pending: VecDeque<WatchEvent>,
    /// What this process names itself in records.
    replica: Arc<str>,
    /// When changes are read again.
    read_at: Instant,
    /// The time of the last event, or of the beginning.
    last_sent: Instant,
}

impl Calls {
    /// Watches the calls that the user may see and that pass the filter: those that run, or, after a position, every
    /// change since.
    pub async fn watch(&self, user: User, filter: Filter, after: &str) -> Result<Watch, Refusal> {
        filter.check()?;
        let token = PageToken::of(&self.0.store, List::WATCHED_CALLS, &user.id, &filter).await?;
        // A position of another user, another filter or another secret names nothing that is known here.
        let position = token.decode::<[u8; POSITION_BYTES]>(after).ok().flatten();
        let from = position.and_then(|position| self.read_position(&position));
        let now = clock::now();
        let next = (self.0.in_flight.next_change(), self.0.remote.next());
        let mut watch = Watch {
            next,
            told: next,
            calls: self.clone(),
            user,
            filter,
            token,
            is_synced: false,
            pending: VecDeque::new(),
            replica: "".into(),
            read_at: now,
            last_sent: now,
        };
        match from.filter(|from| watch.calls.0.in_flight.changes(from.0, 0, |_| false).is_some()) {
            Some(from) => {
                (watch.next, watch.told) = (from, from);
                watch.is_synced = true;
            }
            None if after.is_empty() => {}
            None => watch.push(What::Reset),
        }
        Ok(watch)
    }

    /// The numbers of the next changes after a position; `None` if another process made it.
    fn read_position(&self, position: &[u8; POSITION_BYTES]) -> Option<(u64, u64)> {
        let numbers = position.strip_prefix(self.0.process.as_bytes().as_slice())?;
        let (own, rest) = numbers.split_first_chunk()?;
        let (remote, _) = rest.split_first_chunk()?;
        Some((u64::from_be_bytes(*own), u64::from_be_bytes(*remote)))
    }
}

impl Watch {
    /// The next event.
    pub async fn next(&mut self) -> WatchEvent {
        loop {
            if let Some(event) = self.pending.pop_front() {
                self.last_sent = clock::now();
                return event;
            }
            if !self.is_synced {
                self.begin().await;
                continue;
            }
            sleep_until(self.read_at).await;
            self.read_at = clock::now() + INTERVAL;
            self.replica = self.calls.own_name().await;
            self.read_on();
            let look_at = self.read_remote().await;
            if !self.pending.is_empty() {
                continue;
            }
            let until = self.last_sent + HEARTBEAT;
            if clock::now() >= until {
                self.push(What::Heartbeat);
                continue;
            }
            self.calls.0.in_flight.wait_for_change(self.next.0, until.min(look_at)).await;
        }
    }

    /// Reads the running calls. One that starts or ends meanwhile follows as a change.
    async fn begin(&mut self) {
        let visible = self.visible();
        let (running, _) = self.calls.0.in_flight.list(|info| passes(&self.filter, &visible, info));
        // Of a call without a tool it is not known yet whether its end will be kept.
        let running = running.into_iter().filter(|call| call.facts.tool().is_some());
        self.replica = self.calls.own_name().await;
        let mut running: Vec<_> = running.map(CallChange::Started).filter_map(|it| self.look(it)).collect();
        running.sort_by_key(|(_, watched)| watched.record.call_id);
        for (_, watched) in running {
            self.push(What::Started(Box::new(watched)));
        }
        self.calls.0.remote.look(&self.calls).await;
        self.next.1 = self.calls.0.remote.next();
        for record in self.calls.0.remote.running() {
            self.tell_remote(record);
        }
        self.told = self.next;
        self.is_synced = true;
        self.push(What::Synced);
    }

    fn read_on(&mut self) {
        let visible = self.visible();
        let filter = &self.filter;
        let changes =
            self.calls.0.in_flight.changes(self.next.0, AT_ONCE, |info| passes(filter, &visible, info));
        let Some(Changes { changes, next }) = changes else {
            // The reader was too slow.
            self.next.0 = self.calls.0.in_flight.next_change();
            self.is_synced = false;
            self.push(What::Reset);
            return;
        };
        self.next.0 = next;
        for (number, change) in changes {
            if let Some((has_ended, watched)) = self.look(change) {
                let watched = Box::new(watched);
                self.told.0 = number + 1;
                self.push(if has_ended { What::Ended(watched) } else { What::Started(watched) });
            }
        }
        self.told.0 = next;
    }

    /// Reads the changes of other processes. Returns when to read them again.
    async fn read_remote(&mut self) -> Instant {
        let look_at = self.calls.0.remote.look(&self.calls).await;
        let (records, next) = self.calls.0.remote.changes(self.next.1);
        self.next.1 = next;
        for (number, record) in records {
            self.told.1 = number + 1;
            self.tell_remote(record);
        }
        self.told.1 = next;
        look_at
    }

    /// Tells of a call of another process, if the user may see it and it passes.
    fn tell_remote(&mut self, record: Record) {
        let is_visible = match self.visible() {
            VisibleUsers::All => true,
            VisibleUsers::One(user) => record.user == user.as_str(),
            VisibleUsers::None => false,
        };
        if !is_visible || !self.passes(&record) {
            return;
        }
        let has_ended = record.state.is_final() || record.state == super::State::AwaitingConfirmation;
        let watched = Box::new(Watched { record, stages: Vec::new() });
        self.push(if has_ended { What::Ended(watched) } else { What::Started(watched) });
    }

    /// The call of a change as the user sees it, and whether it has ended; `None` if it does not pass.
    fn look(&self, change: CallChange) -> Option<(bool, Watched)> {
        let (has_ended, record, stages) = match change {
            CallChange::Started(call) => {
                let stages = beginnings(&call.info, call.facts.stages());
                (false, Record::of_running(&call, &self.replica), stages)
            }
            CallChange::Ended(call) => {
                (true, Record::of_ended(&call, &self.replica), beginnings(&call.info, call.stages))
            }
        };
        self.passes(&record).then_some((has_ended, Watched { record, stages }))
    }

    fn passes(&self, record: &Record) -> bool {
        self.filter.passes(record) && (record.tool.is_empty() || self.calls.is_for(&self.user, &record.tool))
    }

    /// The users whose calls are shown, by the rights of now.
    fn visible(&self) -> VisibleUsers {
        self.filter.whose.visible_to(&self.user, self.calls.observes(&self.user))
    }

    fn push(&mut self, what: What) {
        let (own, remote) = (self.told.0.to_be_bytes(), self.told.1.to_be_bytes());
        let position = if self.is_synced {
            self.token.encode([self.calls.0.process.as_bytes().as_slice(), &own, &remote].concat())
        } else {
            String::new()
        };
        self.pending.push_back(WatchEvent { what, position });
    }
}

fn passes(filter: &Filter, visible: &VisibleUsers, info: &CallInfo) -> bool {
    let is_visible = match visible {
        VisibleUsers::All => true,
        VisibleUsers::One(user) => *user == info.user,
        VisibleUsers::None => false,
    };
    is_visible && filter.passes_seen(info)
}
