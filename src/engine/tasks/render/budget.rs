//! What is cut where the budget does not suffice: in a fixed order, oldest first, each thing named.
//!
//! A call never loses its result: whole rounds go, or a result is shortened. System, request and last round stay.

use super::{
    blocks::{self, Block, Shown},
    draft::{Draft, Gap},
    given::Given,
};
use toolwire_base::words::counted;
use toolwire_store::workspace::mime::is_text;

/// So many rounds are touched last.
const LAST_ROUNDS: usize = 8;
/// So many documents are touched last.
const LAST_DOCUMENTS: usize = 3;
/// The most bytes of all messages.
const MOST_BYTES: usize = 3 * 1024 * 1024;
/// The most bytes of media in them.
const MOST_MEDIA: usize = 2 * 1024 * 1024;

/// Cuts until it fits. Returns what was cut, or the least budget if that is too small.
pub(super) fn cut(draft: &mut Draft<'_>, given: &Given<'_>) -> Result<(u64, Vec<String>), u64> {
    let mut cutter = Cutter { taken: Taken::by(draft), draft, given, cuts: Vec::new() };
    cutter.unread();
    cutter.media();
    cutter.references(LAST_DOCUMENTS);
    cutter.results(LAST_ROUNDS);
    cutter.thoughts();
    cutter.rounds(LAST_ROUNDS);
    cutter.references(0);
    cutter.results(1);
    cutter.rounds(1);
    if cutter.taken.bytes > MOST_BYTES {
        cutter.results(0);
    }
    let Cutter { taken, cuts, .. } = cutter;
    if taken.fits(given) { Ok((taken.tokens, cuts)) } else { Err(taken.tokens) }
}

#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    tokens: u64,
    bytes: usize,
    media: usize,
}

impl Taken {
    fn by(draft: &Draft<'_>) -> Self {
        let (system, tokens) = &draft.system;
        let mut taken = Self { tokens: *tokens, bytes: system.len(), media: 0 };
        draft.blocks().for_each(|block| taken.add(block));
        if let Some(gap) = &draft.gap {
            taken.add(&gap.block);
        }
        taken
    }

    fn fits(&self, given: &Given<'_>) -> bool {
        self.tokens <= given.budget && self.bytes <= MOST_BYTES && self.media <= MOST_MEDIA
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

    /// Puts another block in the place of one, if that takes less.
    fn replace(&mut self, block: &mut Block, other: Block) -> bool {
        let is_less = (other.tokens, other.size()) < (block.tokens, block.size());
        if is_less {
            self.remove(block);
            self.add(&other);
            *block = other;
        }
        is_less
    }
}

struct Cutter<'d, 'a, 'g> {
    draft: &'d mut Draft<'a>,
    given: &'g Given<'g>,
    taken: Taken,
    cuts: Vec<String>,
}

impl Cutter<'_, '_, '_> {
    /// Texts that were not even read, since no budget of this size holds them or others had spent it, are references,
    /// and are named like those that are cut.
    fn unread(&mut self) {
        let (given, mut paths) = (self.given, Vec::new());
        for shared in self.draft.shared_mut() {
            let found = given.documents.get(&shared.reference);
            let is_unread = found.is_some_and(|it| it.content.is_none() && is_text(&it.mime_type));
            if is_unread && shared.shown == Shown::Whole {
                shared.shown = Shown::Reference;
                paths.push(shared.reference.path.clone());
            }
        }
        self.name("documents as references", &paths);
    }

    /// Media beyond their bound become references, whatever the budget.
    fn media(&mut self) {
        let mut paths = Vec::new();
        for shared in self.draft.shared_mut() {
            if self.taken.media <= MOST_MEDIA {
                break;
            }
            if shared.block.media() > 0 {
                let line = blocks::document(self.given, shared.sequence, &shared.reference, Shown::Reference);
                self.taken.remove(&shared.block);
                self.taken.add(&line);
                (shared.block, shared.shown) = (line, Shown::Reference);
                paths.push(shared.reference.path.clone());
            }
        }
        self.name("media as references", &paths);
    }

    /// Documents before the last ones become references.
    fn references(&mut self, last: usize) {
        let mut paths = Vec::new();
        let mut whole = self.draft.shared_mut();
        whole.retain(|shared| shared.shown == Shown::Whole);
        let until = whole.len().saturating_sub(last);
        for shared in &mut whole[..until] {
            if self.taken.fits(self.given) {
                break;
            }
            let line = blocks::document(self.given, shared.sequence, &shared.reference, Shown::Reference);
            if self.taken.replace(&mut shared.block, line) {
                shared.shown = Shown::Reference;
                paths.push(shared.reference.path.clone());
            }
        }
        self.name("documents as references", &paths);
    }

    /// Results before the last rounds keep their beginning and end.
    fn results(&mut self, last: usize) {
        let mut count = 0_u64;
        let until = self.draft.rounds.len().saturating_sub(last);
        for call in self.draft.rounds[..until].iter_mut().flat_map(|round| &mut round.calls) {
            if self.taken.fits(self.given) {
                break;
            }
            let named = (call.id.as_str(), call.tool);
            let short = blocks::result(self.given, call.sequence, named, call.outcome, true);
            count += u64::from(self.taken.replace(&mut call.result, short));
        }
        if count > 0 {
            self.cuts.push(format!("{} shortened", counted(count, "result", "results")));
        }
    }

    /// Thoughts before the last rounds go, with what was said of them.
    fn thoughts(&mut self) {
        let mut count = 0_u64;
        let until = self.draft.rounds.len().saturating_sub(LAST_ROUNDS);
        for round in &mut self.draft.rounds[..until] {
            let (taken, given) = (&mut self.taken, self.given);
            round.calls.retain(|call| {
                let goes = call.is_thought && !taken.fits(given);
                if goes {
                    taken.remove(&call.used);
                    taken.remove(&call.result);
                    count += 1;
                }
                !goes
            });
        }
        if count > 0 {
            self.cuts.push(format!("{} left out", counted(count, "thought", "thoughts")));
        }
    }

    /// Rounds before the last ones go, whole, and a line stands for them. What is asked stays.
    fn rounds(&mut self, last: usize) {
        let most = self.draft.rounds.len().saturating_sub(last);
        let mut any = false;
        for at in 0..most {
            if self.draft.rounds[at].is_asked {
                continue;
            }
            // The line may be longer than it was counted.
            if self.taken.fits(self.given) && (!any || self.weigh_gap()) {
                break;
            }
            self.leave_out(at);
            any = true;
        }
        self.draft.rounds.retain(|round| !round.is_left_out);
        if any {
            self.weigh_gap();
            self.cuts.extend(self.draft.gap.as_ref().map(Gap::text));
        }
    }

    fn leave_out(&mut self, at: usize) {
        let round = &mut self.draft.rounds[at];
        round.is_left_out = true;
        round.blocks().for_each(|block| self.taken.remove(block));
        let gap = match &mut self.draft.gap {
            Some(gap) => gap,
            none => {
                let gap = none.insert(Gap::new(round.sequences, false));
                self.taken.add(&gap.block);
                gap
            }
        };
        // Counted again only where it names another tool: a longer number is one token more at most.
        if gap.swallow(round) {
            self.weigh_gap();
        }
    }

    /// Counts the line for what is left out. Whether all fits then.
    fn weigh_gap(&mut self) -> bool {
        if let Some(gap) = &mut self.draft.gap {
            self.taken.remove(&gap.block);
            gap.write();
            self.taken.add(&gap.block);
        }
        self.taken.fits(self.given)
    }

    fn name(&mut self, what: &str, paths: &[String]) {
        if !paths.is_empty() {
            self.cuts.push(format!("{what}: {}", paths.join(", ")));
        }
    }
}
