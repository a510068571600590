//! Cuts a draft to the budget: in a fixed order, oldest first, and reports every cut.
//!
//! A call never loses its result: a result is shortened, or the whole round is dropped. System prompt, request and the
//! last round are never cut.

use super::{
    blocks::{self, Block, DocumentForm},
    draft::{Draft, Gap},
    input::RenderInput,
};
use toolwire_base::words::counted;
use toolwire_state::workspace::mime::is_text;

/// The last rounds, cut only after everything before them.
const LAST_ROUNDS: usize = 8;
/// The last documents, cut only after everything before them.
const LAST_DOCUMENTS: usize = 3;
/// Maximum size of all messages in bytes.
const MAX_BYTES: usize = 3 * 1024 * 1024;
/// Maximum size of media in bytes, over all messages.
const MAX_MEDIA: usize = 2 * 1024 * 1024;

/// Cuts until the draft fits. Returns its tokens and the cuts, or the minimum budget if it cannot fit.
pub(super) fn cut(draft: &mut Draft<'_>, input: &RenderInput<'_>) -> Result<(u64, Vec<String>), u64> {
    let mut cutter = Cutter { usage: Usage::of(draft), draft, input, cuts: Vec::new() };
    cutter.report_unread_documents();
    cutter.limit_media();
    // From what a model can recover by a call, or needs least, to what it needs most. The last documents and rounds are
    // spared in a first pass and cut only if that does not suffice.
    cutter.replace_documents(LAST_DOCUMENTS);
    cutter.shorten_results(LAST_ROUNDS);
    cutter.drop_thoughts();
    cutter.drop_rounds(LAST_ROUNDS);
    cutter.replace_documents(0);
    cutter.shorten_results(1);
    cutter.drop_rounds(1);
    // The result of the last round is shortened only for the limit of a message, never for the budget.
    if cutter.usage.bytes > MAX_BYTES {
        cutter.shorten_results(0);
    }
    let Cutter { usage, cuts, .. } = cutter;
    if usage.fits(input) { Ok((usage.tokens, cuts)) } else { Err(usage.tokens) }
}

#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    tokens: u64,
    bytes: usize,
    media: usize,
}

impl Usage {
    fn of(draft: &Draft<'_>) -> Self {
        let (system, tokens) = &draft.system;
        let mut usage = Self { tokens: *tokens, bytes: system.len(), media: 0 };
        draft.blocks().for_each(|block| usage.add(block));
        if let Some(gap) = &draft.gap {
            usage.add(&gap.block);
        }
        usage
    }

    fn fits(&self, input: &RenderInput<'_>) -> bool {
        self.tokens <= input.budget && self.bytes <= MAX_BYTES && self.media <= MAX_MEDIA
    }

    fn add(&mut self, block: &Block) {
        self.tokens += block.tokens;
        self.bytes += block.size();
        self.media += block.media();
    }

    fn remove(&mut self, block: &Block) {
        self.tokens -= block.tokens;
        self.bytes -= block.size();
        self.media -= block.media();
    }

    /// Replaces a block by another if that is smaller. Returns whether it was replaced.
    fn replace(&mut self, block: &mut Block, other: Block) -> bool {
        let is_smaller = (other.tokens, other.size()) < (block.tokens, block.size());
        if is_smaller {
            self.remove(block);
            self.add(&other);
            *block = other;
        }
        is_smaller
    }
}

struct Cutter<'d, 'a, 'g> {
    draft: &'d mut Draft<'a>,
    input: &'g RenderInput<'g>,
    usage: Usage,
    cuts: Vec<String>,
}

impl Cutter<'_, '_, '_> {
    /// Texts that were not read, because they exceed the budget alone or with others, are references. They are reported
    /// like those that are cut.
    fn report_unread_documents(&mut self) {
        let (input, mut paths) = (self.input, Vec::new());
        for attached in self.draft.documents_mut() {
            let found = input.documents.get(&attached.reference);
            let is_unread = found.is_some_and(|it| it.content.is_none() && is_text(&it.mime_type));
            if is_unread && attached.form == DocumentForm::Whole {
                attached.form = DocumentForm::Reference;
                paths.push(attached.reference.path.clone());
            }
        }
        self.report("documents as references", &paths);
    }

    /// Replaces media by references while they exceed their limit, whatever the budget.
    fn limit_media(&mut self) {
        let mut paths = Vec::new();
        for attached in self.draft.documents_mut() {
            if self.usage.media <= MAX_MEDIA {
                break;
            }
            if attached.block.media() > 0 {
                let line = blocks::document(
                    self.input,
                    attached.sequence,
                    &attached.reference,
                    DocumentForm::Reference,
                );
                self.usage.remove(&attached.block);
                self.usage.add(&line);
                (attached.block, attached.form) = (line, DocumentForm::Reference);
                paths.push(attached.reference.path.clone());
            }
        }
        self.report("media as references", &paths);
    }

    /// Replaces documents before the last ones by references.
    fn replace_documents(&mut self, last: usize) {
        let mut paths = Vec::new();
        let mut whole = self.draft.documents_mut();
        whole.retain(|attached| attached.form == DocumentForm::Whole);
        let until = whole.len().saturating_sub(last);
        for attached in &mut whole[..until] {
            if self.usage.fits(self.input) {
                break;
            }
            let line =
                blocks::document(self.input, attached.sequence, &attached.reference, DocumentForm::Reference);
            if self.usage.replace(&mut attached.block, line) {
                attached.form = DocumentForm::Reference;
                paths.push(attached.reference.path.clone());
            }
        }
        self.report("documents as references", &paths);
    }

    /// Shortens results before the last rounds to their beginning and end.
    fn shorten_results(&mut self, last: usize) {
        let mut count = 0_u64;
        let until = self.draft.rounds.len().saturating_sub(last);
        for call in self.draft.rounds[..until].iter_mut().flat_map(|round| &mut round.calls) {
            if self.usage.fits(self.input) {
                break;
            }
            let short = blocks::result(self.input, call.sequence, &call.id, call.tool, call.outcome, true);
            count += u64::from(self.usage.replace(&mut call.result, short));
        }
        if count > 0 {
            self.cuts.push(format!("{} shortened", counted(count, "result", "results")));
        }
    }

    /// Drops thoughts before the last rounds, calls with their results.
    fn drop_thoughts(&mut self) {
        let mut count = 0_u64;
        let until = self.draft.rounds.len().saturating_sub(LAST_ROUNDS);
        for round in &mut self.draft.rounds[..until] {
            let (usage, input) = (&mut self.usage, self.input);
            round.calls.retain(|call| {
                let is_dropped = call.is_thought && !usage.fits(input);
                if is_dropped {
                    usage.remove(&call.tool_use);
                    usage.remove(&call.result);
                    count += 1;
                }
                !is_dropped
            });
        }
        if count > 0 {
            self.cuts.push(format!("{} left out", counted(count, "thought", "thoughts")));
        }
    }

    /// Drops whole rounds before the last ones, except a question, and puts one line in their place.
    fn drop_rounds(&mut self, last: usize) {
        let most = self.draft.rounds.len().saturating_sub(last);
        let mut any = false;
        for at in 0..most {
            if self.draft.rounds[at].is_question {
                continue;
            }
            // The line may have grown since it was last counted.
            if self.usage.fits(self.input) && (!any || self.recount_gap()) {
                break;
            }
            self.drop_round(at);
            any = true;
        }
        self.draft.rounds.retain(|round| !round.is_dropped);
        if any {
            self.recount_gap();
            self.cuts.extend(self.draft.gap.as_ref().map(Gap::text));
        }
    }

    fn drop_round(&mut self, at: usize) {
        let round = &mut self.draft.rounds[at];
        round.is_dropped = true;
        round.blocks().for_each(|block| self.usage.remove(block));
        let gap = match &mut self.draft.gap {
            Some(gap) => gap,
            none => {
                let gap = none.insert(Gap::new(round.sequences, false));
                self.usage.add(&gap.block);
                gap
            }
        };
        // Counted again only if it names another tool: longer numbers add at most one token.
        if gap.absorb(round) {
            self.recount_gap();
        }
    }

    /// Updates the line for dropped rounds and its tokens. Returns whether the draft fits.
    fn recount_gap(&mut self) -> bool {
        if let Some(gap) = &mut self.draft.gap {
            self.usage.remove(&gap.block);
            gap.update_block();
            self.usage.add(&gap.block);
        }
        self.usage.fits(self.input)
    }

    fn report(&mut self, what: &str, paths: &[String]) {
        if !paths.is_empty() {
            self.cuts.push(format!("{what}: {}", paths.join(", ")));
        }
    }
}
