//! Reads a task's timeline backwards until the budget is exhausted.
//!
//! The timeline of a question begins with its master's timeline up to the question: the entries of both are numbered as
//! one timeline.

use super::{
    entries,
    input::{Body, Event, Request},
};
use toolwire_state::{
    Store,
    tasks::{PageRequest, Task, TaskError, entry::Entry},
};
use toolwire_tool::context::{TaskId, UserId};

const PAGE_ENTRIES: u32 = 500;

/// Approximate bytes per token. Up to twice the budget is read, since results may be shortened.
const BYTES_PER_TOKEN: u64 = 4;

/// Bytes charged for each entry beyond its texts, so that many short entries exhaust the budget too.
const ENTRY_BYTES: u64 = 32;

/// The part of a timeline that a render can use.
pub(super) struct History {
    /// The request in the first entry.
    pub(super) request: Request,
    /// The number of entries after it that were not read.
    pub(super) unread: u64,
    /// All later entries, in order.
    pub(super) events: Vec<Event>,
    /// The number of entries before those of the task itself.
    pub(super) before: u64,
}

/// A timeline, or its part up to a question.
struct Segment {
    task: TaskId,
    /// The last entry of the segment; `None`: the end of the timeline.
    last: Option<u64>,
    /// The number of entries in the segments before it.
    base: u64,
    /// The task that asked the question, if it is one.
    asker: Option<TaskId>,
}

/// The rest of the budget while entries are read.
struct ReadBudget<'a> {
    tokens: u64,
    bytes: u64,
    /// The provider whose opaque data is rendered.
    provider: &'a str,
}

/// Reads the timeline of a task; for a question, after those of its masters.
pub(super) async fn read(
    store: &Store,
    user: &UserId,
    task: &Task,
    budget: u64,
    provider: &str,
) -> Result<History, TaskError> {
    let segments = segments(store, user, task).await?;
    let mut rest = ReadBudget { tokens: budget, bytes: budget.saturating_mul(2 * BYTES_PER_TOKEN), provider };
    let (mut events, mut unread) = (Vec::new(), 0);
    // The newest segment first: what the budget does not reach is the oldest part.
    for segment in &segments {
        unread = read_back(store, user, segment, &mut rest, &mut events).await?;
        if unread > 0 {
            break;
        }
    }
    events.reverse();
    let (request, questions) = first_entries(store, user, &segments).await?;
    // Each at its place in the timeline; one in the part that was not read comes first.
    for question in questions {
        let at = events.partition_point(|event: &Event| event.sequence < question.sequence);
        events.insert(at, question);
    }
    let before = segments.first().map_or(0, |own| own.base);
    Ok(History { request, unread, events, before })
}

/// Reads the first entries of the segments, the request and the questions, regardless of the budget.
async fn first_entries(
    store: &Store,
    user: &UserId,
    segments: &[Segment],
) -> Result<(Request, Vec<Event>), TaskError> {
    let (mut request, mut questions) = (Request::default(), Vec::new());
    for segment in segments.iter().rev() {
        let Some(first) = store.timeline_entry(user, &segment.task, 0).await? else { continue };
        let asker = match segment.asker.as_ref().filter(|_| segment.base > 0) {
            Some(asker) => Some(describe_asker(&store.task(user, asker).await?)),
            None => None,
        };
        match asker.and_then(|asker| entries::question(&first, &asker)) {
            None => request = entries::request(&first).unwrap_or_default(),
            Some(body) => questions.push(Event { sequence: segment.base, step: 0, position: 0, body }),
        }
    }
    Ok((request, questions))
}

/// The segments, last first: the task's own timeline, then that of its master up to the question, and so on.
async fn segments(store: &Store, user: &UserId, task: &Task) -> Result<Vec<Segment>, TaskError> {
    let asker = task.parent.clone();
    let mut segments = vec![Segment { task: task.id.clone(), last: None, base: 0, asker }];
    let mut master = task.master.clone();
    while let Some((id, entries)) = master {
        for later in &mut segments {
            later.base += entries;
        }
        let task = store.task(user, &id).await?;
        master = task.master;
        let last = Some(entries.saturating_sub(1));
        segments.push(Segment { task: id, last, base: 0, asker: task.parent });
    }
    Ok(segments)
}

/// Names the asker of a question for the agent that answers it.
fn describe_asker(asker: &Task) -> String {
    match asker.role.as_str() {
        "" => format!("the task {}", asker.id),
        role => format!("the agent with the role {role} (task {})", asker.id),
    }
}

/// Reads a segment from its end, without its first entry. Returns the number of entries that were not read, including
/// those of earlier segments.
async fn read_back(
    store: &Store,
    user: &UserId,
    segment: &Segment,
    rest: &mut ReadBudget<'_>,
    events: &mut Vec<Event>,
) -> Result<u64, TaskError> {
    let mut from = segment.last;
    loop {
        let page = PageRequest { from, backwards: true, limit: PAGE_ENTRIES };
        let page = store.timeline_page(user, &segment.task, page).await?;
        for mut entry in page.entries {
            if entry.sequence == 0 {
                return Ok(0);
            }
            entries::drop_foreign_opaque(&mut entry, rest.provider);
            let is_exhausted = rest.spend(&mut entry);
            if entries::is_external(&mut entry) {
                entry = store.timeline_entry(user, &segment.task, entry.sequence).await?.unwrap_or(entry);
                entries::drop_foreign_opaque(&mut entry, rest.provider);
            }
            let event = entries::event(entry).shift(segment.base);
            let before = event.sequence - 1;
            events.push(event);
            if is_exhausted {
                return Ok(before);
            }
        }
        from = page.next;
        if from.is_none() {
            return Ok(0);
        }
    }
}

impl ReadBudget<'_> {
    /// Charges the minimum cost of an entry. Returns whether the budget is exhausted, so that no earlier entry fits.
    fn spend(&mut self, entry: &mut Entry) -> bool {
        let (tokens, bytes) = (entries::min_tokens(entry), entries::size(entry) + ENTRY_BYTES);
        let is_exhausted = tokens > self.tokens || bytes > self.bytes;
        self.tokens = self.tokens.saturating_sub(tokens);
        self.bytes = self.bytes.saturating_sub(bytes);
        is_exhausted
    }
}

impl Event {
    /// Renumbers the event behind `by` more entries.
    fn shift(mut self, by: u64) -> Self {
        self.sequence += by;
        match &mut self.body {
            Body::Answer { answers: of, .. } | Body::Decision { decides: of, .. } => *of += by,
            Body::Message { .. } | Body::Question { .. } | Body::Call(_) | Body::Other => {}
        }
        self
    }
}
