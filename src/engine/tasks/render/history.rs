//! What was said and done in a task, read backwards until no budget reaches further.
//!
//! A question begins with what its master had said and done when it was asked: the entries of both are numbered as if
//! they were one timeline.

use super::{
    entries,
    given::{Body, Event, Request},
};
use toolwire_store::{
    Store,
    tasks::{PageRequest, Task, TaskError, entry::Entry},
};
use toolwire_tool::context::{TaskId, UserId};

/// So many entries are read at once.
const AT_ONCE: u32 = 500;

/// A token has about so many bytes. Twice the budget is read at most, since results may be shortened.
const BYTES_A_TOKEN: u64 = 4;

/// An entry without long texts takes so many bytes too.
const LEAST_BYTES: u64 = 32;

/// What was said and done.
pub(super) struct History {
    /// What is to be done: the very first entry.
    pub(super) request: Request,
    /// Entries after it that were not read.
    pub(super) unread: u64,
    /// The entries after these.
    pub(super) events: Vec<Event>,
    /// How many entries stand before those of the task itself.
    pub(super) before: u64,
}

/// A timeline, or the beginning of one.
struct Stretch {
    task: TaskId,
    /// Its last entry; none: that of the timeline.
    last: Option<u64>,
    /// The number of its first entry.
    base: u64,
    /// The task that asked, if it is a question.
    asker: Option<TaskId>,
}

/// What is still to be read of the budget.
struct Room<'a> {
    tokens: u64,
    bytes: u64,
    /// Whose opaque parts are shown.
    provider: &'a str,
}

/// Reads the timeline of a task, and of a question those of its masters before it.
pub(super) async fn read(
    store: &Store,
    user: &UserId,
    task: &Task,
    (budget, provider): (u64, &str),
) -> Result<History, TaskError> {
    let stretches = stretches(store, user, task).await?;
    let mut room = Room { tokens: budget, bytes: budget.saturating_mul(2 * BYTES_A_TOKEN), provider };
    let (mut events, mut unread) = (Vec::new(), 0);
    for stretch in &stretches {
        if unread > 0 {
            continue;
        }
        unread = read_back(store, user, stretch, &mut room, &mut events).await?;
    }
    events.reverse();
    let (before, mut request) = (stretches.first().map_or(0, |own| own.base), Request::default());
    let mut questions = Vec::new();
    for stretch in stretches.iter().rev() {
        let Some(first) = store.timeline_entry(user, &stretch.task, 0).await? else { continue };
        let asker = match stretch.asker.as_ref().filter(|_| stretch.base > 0) {
            Some(asker) => Some(in_words(&store.task(user, asker).await?)),
            None => None,
        };
        match asker.and_then(|asker| entries::asked(&first, &asker)) {
            None => request = entries::request(&first).unwrap_or_default(),
            Some(body) => questions.push(Event { sequence: stretch.base, step: 0, position: 0, body }),
        }
    }
    // Each where it was asked; one whose entries were not read stands before all that were.
    for question in questions {
        let at = events.partition_point(|event: &Event| event.sequence < question.sequence);
        events.insert(at, question);
    }
    Ok(History { request, unread, events, before })
}

/// The task's own timeline first, then that of its master up to the question, and so on.
async fn stretches(store: &Store, user: &UserId, task: &Task) -> Result<Vec<Stretch>, TaskError> {
    let asker = task.parent.clone();
    let mut stretches = vec![Stretch { task: task.id.clone(), last: None, base: 0, asker }];
    let mut master = task.master.clone();
    while let Some((id, entries)) = master {
        for later in &mut stretches {
            later.base += entries;
        }
        let task = store.task(user, &id).await?;
        master = task.master;
        let last = Some(entries.saturating_sub(1));
        stretches.push(Stretch { task: id, last, base: 0, asker: task.parent });
    }
    Ok(stretches)
}

/// Who asks, as the one who is asked knows it.
fn in_words(asker: &Task) -> String {
    match asker.role.as_str() {
        "" => format!("the task {}", asker.id),
        role => format!("the agent with the role {role} (task {})", asker.id),
    }
}

/// Reads a timeline from its end, but not its first entry. How many entries of all that stand before were not read.
async fn read_back(
    store: &Store,
    user: &UserId,
    stretch: &Stretch,
    room: &mut Room<'_>,
    events: &mut Vec<Event>,
) -> Result<u64, TaskError> {
    let mut from = stretch.last;
    loop {
        let page = PageRequest { from, backwards: true, limit: AT_ONCE };
        let page = store.timeline_page(user, &stretch.task, page).await?;
        for mut entry in page.entries {
            if entry.sequence == 0 {
                return Ok(0);
            }
            entries::without_others(&mut entry, room.provider);
            let is_enough = room.spend(&mut entry);
            if entries::is_apart(&mut entry) {
                entry = store.timeline_entry(user, &stretch.task, entry.sequence).await?.unwrap_or(entry);
                entries::without_others(&mut entry, room.provider);
            }
            let event = entries::event(entry).moved(stretch.base);
            let before = event.sequence - 1;
            events.push(event);
            if is_enough {
                return Ok(before);
            }
        }
        from = page.next;
        if from.is_none() {
            return Ok(0);
        }
    }
}

impl Room<'_> {
    /// Spends what an entry takes at least. Whether nothing before it can be shown any more.
    fn spend(&mut self, entry: &mut Entry) -> bool {
        let (tokens, bytes) = (entries::least(entry), entries::size(entry) + LEAST_BYTES);
        let is_enough = tokens > self.tokens || bytes > self.bytes;
        self.tokens = self.tokens.saturating_sub(tokens);
        self.bytes = self.bytes.saturating_sub(bytes);
        is_enough
    }
}

impl Event {
    /// The same with so many entries more before it.
    fn moved(mut self, by: u64) -> Self {
        self.sequence += by;
        match &mut self.body {
            Body::Answered { answers: of, .. } | Body::Decided { decides: of, .. } => *of += by,
            Body::Said { .. } | Body::Asked { .. } | Body::Called(_) | Body::Silent => {}
        }
        self
    }
}
