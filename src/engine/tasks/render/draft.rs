//! The rendering while it is cut: the request, then rounds, each a response of the model and what was returned to it.

use super::{
    blocks::{Block, DocumentForm},
    input::{DocumentVersion, Outcome, Speaker},
};

#[derive(Debug, Default)]
pub(super) struct Draft<'a> {
    /// The system prompt and its tokens.
    pub(super) system: (String, u64),
    /// The sequence number of the first entry, and the request in it.
    pub(super) request: (u64, Block),
    pub(super) documents: Vec<AttachedDocument>,
    /// Messages of users before the first round.
    pub(super) user_messages: Vec<(u64, Block)>,
    pub(super) rounds: Vec<Round<'a>>,
    /// Stands for dropped rounds.
    pub(super) gap: Option<Gap>,
}

/// A response of the model, and what was returned to it.
#[derive(Debug, Default)]
pub(super) struct Round<'a> {
    pub(super) step: u64,
    pub(super) sequences: (u64, u64),
    pub(super) texts: Vec<Block>,
    pub(super) opaque: Vec<Block>,
    pub(super) calls: Vec<DraftCall<'a>>,
    pub(super) documents: Vec<AttachedDocument>,
    /// Messages of users after the response.
    pub(super) user_messages: Vec<Block>,
    /// Whether it is the question of a question task, which is never cut.
    pub(super) is_question: bool,
    pub(super) is_dropped: bool,
}

#[derive(Debug)]
pub(super) struct DraftCall<'a> {
    pub(super) sequence: u64,
    pub(super) position: u32,
    /// The model's identifier, which may be invalid for another provider.
    pub(super) given_id: &'a str,
    pub(super) id: String,
    pub(super) tool: &'a str,
    pub(super) is_thought: bool,
    pub(super) outcome: &'a Outcome,
    pub(super) tool_use: Block,
    pub(super) result: Block,
}

/// A document that is attached to an entry.
#[derive(Debug)]
pub(super) struct AttachedDocument {
    pub(super) sequence: u64,
    pub(super) reference: DocumentVersion,
    pub(super) form: DocumentForm,
    pub(super) block: Block,
}

/// Stands for dropped rounds.
#[derive(Debug)]
pub(super) struct Gap {
    pub(super) sequences: (u64, u64),
    /// The tools that they call, without duplicates.
    pub(super) tools: Vec<String>,
    /// Whether some of the entries were not read, so that `tools` may be incomplete.
    pub(super) is_unread: bool,
    pub(super) block: Block,
}

/// The blocks of one role in a round.
pub(super) struct Part {
    pub(super) role: Speaker,
    pub(super) blocks: Vec<Block>,
    pub(super) sequences: (u64, u64),
}

impl Draft<'_> {
    pub(super) fn blocks(&self) -> impl Iterator<Item = &Block> {
        let first =
            [&self.request.1].into_iter().chain(self.documents.iter().map(|attached| &attached.block));
        let first = first.chain(self.user_messages.iter().map(|(_, block)| block));
        first.chain(self.rounds.iter().flat_map(Round::blocks))
    }

    /// All attached documents, in order.
    pub(super) fn documents_mut(&mut self) -> Vec<&mut AttachedDocument> {
        let of_rounds = self.rounds.iter_mut().flat_map(|round| &mut round.documents);
        self.documents.iter_mut().chain(of_rounds).collect()
    }

    /// Converts to parts of messages, in order.
    pub(super) fn into_parts(self) -> Vec<Part> {
        let (sequence, request) = self.request;
        let dropped = self.gap.as_ref().map_or(0, |gap| gap.sequences.1);
        let last =
            self.user_messages.iter().map(|(sequence, _)| *sequence).fold(sequence.max(dropped), u64::max);
        let mut blocks = vec![request];
        blocks.extend(self.documents.into_iter().map(|attached| attached.block));
        blocks.extend(self.gap.map(|gap| gap.block));
        blocks.extend(self.user_messages.into_iter().map(|(_, block)| block));
        let mut parts = vec![Part { role: Speaker::User, blocks, sequences: (sequence, last) }];
        parts.extend(self.rounds.into_iter().flat_map(Round::into_parts));
        parts
    }
}

impl Round<'_> {
    pub(super) fn blocks(&self) -> impl Iterator<Item = &Block> {
        let calls = self.calls.iter().flat_map(|call| [&call.tool_use, &call.result]);
        let documents = self.documents.iter().map(|attached| &attached.block);
        self.texts.iter().chain(&self.opaque).chain(calls).chain(documents).chain(&self.user_messages)
    }

    /// The model's texts and calls; then what was returned: results first, in the order of the calls, as providers
    /// require.
    fn into_parts(self) -> [Part; 2] {
        let (calls, results): (Vec<_>, Vec<_>) =
            self.calls.into_iter().map(|call| (call.tool_use, call.result)).unzip();
        let assistant = self.texts.into_iter().chain(self.opaque).chain(calls).collect();
        let documents = self.documents.into_iter().map(|attached| attached.block);
        let returned = results.into_iter().chain(documents).chain(self.user_messages).collect();
        let part = |role, blocks| Part { role, blocks, sequences: self.sequences };
        [part(Speaker::Assistant, assistant), part(Speaker::User, returned)]
    }
}

impl Gap {
    pub(super) fn new(sequences: (u64, u64), is_unread: bool) -> Self {
        let mut gap = Self { sequences, tools: Vec::new(), is_unread, block: Block::default() };
        gap.update_block();
        gap
    }

    /// Adds a dropped round. Returns whether its tools are new, so that more than the numbers in the text change.
    pub(super) fn absorb(&mut self, round: &Round<'_>) -> bool {
        self.sequences.1 = self.sequences.1.max(round.sequences.1);
        let before = self.tools.len();
        for call in &round.calls {
            if !self.tools.iter().any(|tool| tool == call.tool) {
                self.tools.push(call.tool.to_owned());
            }
        }
        self.tools.len() > before
    }

    pub(super) fn update_block(&mut self) {
        self.block = Block::text(format!("[{}]", self.text()));
    }

    pub(super) fn text(&self) -> String {
        let (first, last) = self.sequences;
        let mut tools = self.tools.clone();
        tools.sort_unstable();
        let mut what = match tools.as_slice() {
            [] => String::new(),
            tools => format!(", with calls of {}", tools.join(", ")),
        };
        if self.is_unread && !tools.is_empty() {
            what.push_str(" and others");
        }
        format!("entries {first} to {last} of the timeline are left out{what}")
    }
}
