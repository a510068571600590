//! What is to be rendered, while it is cut: the request, then rounds of a response of the model and what came back.

use super::{
    blocks::{Block, Shown},
    given::{DocumentVersion, Outcome, Speaker},
};

#[derive(Debug, Default)]
pub(super) struct Draft<'a> {
    /// What stands above the messages, and its tokens.
    pub(super) system: (String, u64),
    /// The first entry, and what is to be done.
    pub(super) request: (u64, Block),
    pub(super) documents: Vec<Shared>,
    /// What persons said before the first round.
    pub(super) said: Vec<(u64, Block)>,
    pub(super) rounds: Vec<Round<'a>>,
    /// What stands for the rounds that are left out.
    pub(super) gap: Option<Gap>,
}

/// A response of the model, and what came back for it.
#[derive(Debug, Default)]
pub(super) struct Round<'a> {
    pub(super) step: u64,
    pub(super) sequences: (u64, u64),
    /// What the model said, and what its provider wants back.
    pub(super) texts: Vec<Block>,
    pub(super) opaque: Vec<Block>,
    pub(super) calls: Vec<Call<'a>>,
    pub(super) documents: Vec<Shared>,
    /// What persons said then.
    pub(super) said: Vec<Block>,
    /// Whether it is what is asked, which stays.
    pub(super) is_asked: bool,
    pub(super) is_left_out: bool,
}

#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) sequence: u64,
    pub(super) position: u32,
    /// The model's own identifier, which may not do for every provider.
    pub(super) given_id: &'a str,
    pub(super) id: String,
    pub(super) tool: &'a str,
    pub(super) is_thought: bool,
    pub(super) outcome: &'a Outcome,
    pub(super) used: Block,
    pub(super) result: Block,
}

/// A document that came with an entry.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) sequence: u64,
    pub(super) reference: DocumentVersion,
    pub(super) shown: Shown,
    pub(super) block: Block,
}

/// Rounds that are left out.
#[derive(Debug)]
pub(super) struct Gap {
    pub(super) sequences: (u64, u64),
    /// The tools that were called in them, each once.
    pub(super) tools: Vec<String>,
    /// Whether entries are among them that were not read.
    pub(super) is_unread: bool,
    /// The line that stands for it.
    pub(super) block: Block,
}

/// One side of a round as blocks.
pub(super) struct Part {
    pub(super) role: Speaker,
    pub(super) blocks: Vec<Block>,
    pub(super) sequences: (u64, u64),
}

impl Draft<'_> {
    pub(super) fn blocks(&self) -> impl Iterator<Item = &Block> {
        let first = [&self.request.1].into_iter().chain(self.documents.iter().map(|shared| &shared.block));
        let first = first.chain(self.said.iter().map(|(_, block)| block));
        first.chain(self.rounds.iter().flat_map(Round::blocks))
    }

    /// Every document, in order.
    pub(super) fn shared_mut(&mut self) -> Vec<&mut Shared> {
        let of_rounds = self.rounds.iter_mut().flat_map(|round| &mut round.documents);
        self.documents.iter_mut().chain(of_rounds).collect()
    }

    /// Everything as messages, in order.
    pub(super) fn into_parts(self) -> Vec<Part> {
        let (sequence, request) = self.request;
        let left_out = self.gap.as_ref().map_or(0, |gap| gap.sequences.1);
        let last = self.said.iter().map(|(sequence, _)| *sequence).fold(sequence.max(left_out), u64::max);
        let mut blocks = vec![request];
        blocks.extend(self.documents.into_iter().map(|shared| shared.block));
        blocks.extend(self.gap.map(|gap| gap.block));
        blocks.extend(self.said.into_iter().map(|(_, block)| block));
        let mut parts = vec![Part { role: Speaker::User, blocks, sequences: (sequence, last) }];
        parts.extend(self.rounds.into_iter().flat_map(Round::into_parts));
        parts
    }
}

impl Round<'_> {
    pub(super) fn blocks(&self) -> impl Iterator<Item = &Block> {
        let calls = self.calls.iter().flat_map(|call| [&call.used, &call.result]);
        let documents = self.documents.iter().map(|shared| &shared.block);
        self.texts.iter().chain(&self.opaque).chain(calls).chain(documents).chain(&self.said)
    }

    /// What the model said and called; what came back: results first, in the order of the calls.
    fn into_parts(self) -> [Part; 2] {
        let (used, results): (Vec<_>, Vec<_>) =
            self.calls.into_iter().map(|call| (call.used, call.result)).unzip();
        let assistant = self.texts.into_iter().chain(self.opaque).chain(used).collect();
        let documents = self.documents.into_iter().map(|shared| shared.block);
        let back = results.into_iter().chain(documents).chain(self.said).collect();
        let part = |role, blocks| Part { role, blocks, sequences: self.sequences };
        [part(Speaker::Assistant, assistant), part(Speaker::User, back)]
    }
}

impl Gap {
    pub(super) fn new(sequences: (u64, u64), is_unread: bool) -> Self {
        let mut gap = Self { sequences, tools: Vec::new(), is_unread, block: Block::default() };
        gap.write();
        gap
    }

    /// Takes one more round into what is left out. Whether that says more than other numbers.
    pub(super) fn swallow(&mut self, round: &Round<'_>) -> bool {
        self.sequences.1 = self.sequences.1.max(round.sequences.1);
        let before = self.tools.len();
        for call in &round.calls {
            if !self.tools.iter().any(|tool| tool == call.tool) {
                self.tools.push(call.tool.to_owned());
            }
        }
        self.tools.len() > before
    }

    /// Writes the line that stands for it.
    pub(super) fn write(&mut self) {
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
