//! Entries as rounds: those of one step are one response of the model, with what came back for it.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{
    blocks::{self, Block, Content, Shown},
    draft::{Call, Draft, Gap, Round, Shared},
    given::{Body, Called, DocumentVersion, Event, Given, Outcome, Speaker},
};

/// The longest name of a call.
const LONGEST: usize = 64;

/// The rounds of a timeline. Everything stands whole, but of one path only the newest version.
pub(super) fn draft<'a>(given: &'a Given<'_>) -> Draft<'a> {
    let request = &given.request;
    let mut draft = Draft {
        request: (request.sequence, Block::text(request.text.clone())),
        documents: shared(request.sequence, &request.documents),
        gap: gap(given),
        ..Draft::default()
    };
    let (outcomes, retractions) = outcomes(given.events);
    for event in given.events {
        match &event.body {
            Body::Said { speaker: Speaker::User, text, tokens, .. } => {
                said(&mut draft, event.sequence, Block::counted(text.clone(), *tokens));
            }
            Body::Said { speaker: Speaker::Assistant, text, tokens, opaque } => {
                let round = round(&mut draft.rounds, event);
                round.texts.push(Block::counted(text.clone(), *tokens));
                let of_provider = opaque.iter().filter(|opaque| opaque.provider == given.provider);
                round.opaque.extend(of_provider.map(|opaque| Block::opaque(opaque.data.clone())));
            }
            Body::Asked { text, documents } => draft.rounds.push(asked(event.sequence, text, documents)),
            Body::Called(called) => {
                let own = (event.sequence, &called.outcome);
                let (at, outcome) = outcomes.get(&event.sequence).copied().unwrap_or(own);
                let round = round(&mut draft.rounds, event);
                round.documents.extend(shared(at, &outcome.documents));
                call(round, event, called, outcome);
            }
            Body::Decided { decides, outcome } if retractions.contains(&event.sequence) => {
                said(&mut draft, event.sequence, retracted(given.events, *decides, outcome));
            }
            Body::Answered { .. } | Body::Decided { .. } | Body::Silent => {}
        }
    }
    finish(&mut draft, given);
    draft
}

/// What entries say that are older than any budget reaches.
fn gap(given: &Given<'_>) -> Option<Gap> {
    let first = given.request.sequence + 1;
    let sequences = (first, first + given.unread.saturating_sub(1));
    (given.unread > 0).then(|| Gap::new(sequences, true))
}

/// What calls that waited came to, by their entries, and with which entry. The last word counts; but what an approved
/// call was shown with stays, since the model may have gone on by it, and the entries that take an approval back are
/// told where they stand.
fn outcomes(events: &[Event]) -> (HashMap<u64, (u64, &Outcome)>, HashSet<u64>) {
    let (mut outcomes, mut approved, mut retractions) = (HashMap::new(), HashSet::new(), HashSet::new());
    for event in events {
        match &event.body {
            Body::Decided { decides, outcome } if outcome.is_error && approved.contains(decides) => {
                retractions.insert(event.sequence);
            }
            Body::Decided { decides, outcome } if !outcome.is_error => {
                approved.insert(*decides);
                outcomes.insert(*decides, (event.sequence, outcome));
            }
            Body::Answered { answers: of, outcome } | Body::Decided { decides: of, outcome } => {
                outcomes.insert(*of, (event.sequence, outcome));
            }
            Body::Said { .. } | Body::Asked { .. } | Body::Called(_) | Body::Silent => {}
        }
    }
    (outcomes, retractions)
}

/// What is said where an approval comes to nothing.
fn retracted(events: &[Event], call: u64, outcome: &Outcome) -> Block {
    let called = events.iter().find(|event| event.sequence == call).map(|event| &event.body);
    let tool = match called {
        Some(Body::Called(called)) => called.tool.as_str(),
        _ => "a tool",
    };
    Block::text(format!(
        "[The approved call of {tool} was not carried out, and is not any more. {}]",
        outcome.content
    ))
}

/// What an agent is asked whose entries so far stand before it: nothing that it says belongs to them.
fn asked<'a>(sequence: u64, text: &str, documents: &[DocumentVersion]) -> Round<'a> {
    Round {
        sequences: (sequence, sequence),
        documents: shared(sequence, documents),
        said: vec![Block::text(text.to_owned())],
        is_asked: true,
        ..Round::default()
    }
}

fn said(draft: &mut Draft<'_>, sequence: u64, block: Block) {
    match draft.rounds.last_mut() {
        Some(round) => {
            round.said.push(block);
            round.sequences.1 = round.sequences.1.max(sequence);
        }
        None => draft.said.push((sequence, block)),
    }
}

/// The round of an entry's step, begun where there is none.
fn round<'r, 'a>(rounds: &'r mut Vec<Round<'a>>, event: &Event) -> &'r mut Round<'a> {
    // Calls of a step may end late, so it need not be the last round; but it is never far back.
    // Steps are counted from the beginning where another task begins.
    let own = rounds.iter().rposition(|round| round.is_asked).map_or(0, |at| at + 1);
    let is_known = |round: &Round<'_>| event.step != 0 && round.step == event.step;
    let known = rounds[own..].iter().rposition(is_known).map(|at| own + at);
    let at = known.unwrap_or_else(|| {
        let sequences = (event.sequence, event.sequence);
        rounds.push(Round { step: event.step, sequences, ..Round::default() });
        rounds.len() - 1
    });
    let round = &mut rounds[at];
    round.sequences.1 = round.sequences.1.max(event.sequence);
    round
}

/// A call that had to wait again has a further entry, of which the last counts.
fn call<'a>(round: &mut Round<'a>, event: &Event, called: &'a Called, outcome: &'a Outcome) {
    let is_again = |call: &&mut Call<'_>| !called.id.is_empty() && call.given_id == called.id;
    if let Some(earlier) = round.calls.iter_mut().find(is_again) {
        (earlier.sequence, earlier.outcome) = (event.sequence, outcome);
        return;
    }
    round.calls.push(Call {
        sequence: event.sequence,
        position: event.position,
        given_id: &called.id,
        id: String::new(),
        tool: &called.tool,
        is_thought: called.is_thought,
        outcome,
        used: match called.input.as_str() {
            "" => blocks::used(&called.tool, "{}", None),
            input => blocks::used(&called.tool, input, called.input_tokens),
        },
        result: Block::default(),
    });
}

fn shared(sequence: u64, references: &[DocumentVersion]) -> Vec<Shared> {
    let shared = |reference: &DocumentVersion| Shared {
        sequence,
        reference: reference.clone(),
        shown: Shown::Whole,
        block: Block::default(),
    };
    references.iter().map(shared).collect()
}

/// Orders and names the calls, and makes their results and the documents, now that all is known of them.
fn finish(draft: &mut Draft<'_>, given: &Given<'_>) {
    let mut ids = HashSet::new();
    for round in &mut draft.rounds {
        round.calls.sort_by_key(|call| (call.position, call.sequence));
        for call in &mut round.calls {
            call.id = free_id(call, &mut ids);
            if let Content::Use { id, .. } = &mut call.used.content {
                id.clone_from(&call.id);
            }
            call.result = blocks::result(given, call.sequence, (&call.id, call.tool), call.outcome, false);
        }
    }
    only_newest(draft);
    for shared in draft.shared_mut() {
        shared.block = blocks::document(given, shared.sequence, &shared.reference, shared.shown);
    }
}

/// The model's own identifier where every provider takes it and no other call has it.
fn free_id(call: &Call<'_>, ids: &mut HashSet<String>) -> String {
    let is_plain = |id: &str| id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let is_good = (1..=LONGEST).contains(&call.given_id.len()) && is_plain(call.given_id);
    let own = format!("call_{}", call.sequence);
    let mut id = if is_good && !ids.contains(call.given_id) { call.given_id.to_owned() } else { own };
    while !ids.insert(id.clone()) {
        id.push('_');
    }
    id
}

/// Of one path only the newest version stands whole, and that once: where it came last.
fn only_newest(draft: &mut Draft<'_>) {
    let mut all = draft.shared_mut();
    let mut newest: BTreeMap<String, (u32, usize)> = BTreeMap::new();
    for (at, shared) in all.iter().enumerate() {
        let known = newest.entry(shared.reference.path.clone()).or_default();
        *known = (*known).max((shared.reference.version, at));
    }
    for (at, shared) in all.iter_mut().enumerate() {
        if newest[&shared.reference.path].1 != at {
            shared.shown = Shown::Reference;
        }
    }
}
