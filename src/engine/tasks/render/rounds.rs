//! Groups events into rounds: the events of one step are one response of the model and what was returned to it.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{
    blocks::{self, Block, Content, DocumentForm},
    draft::{AttachedDocument, Draft, DraftCall, Gap, Round},
    input::{Body, DocumentVersion, Event, Outcome, RenderInput, Speaker, ToolCall},
};

/// Maximum length of a call's identifier, in bytes.
const MAX_ID: usize = 64;

/// The rounds of a timeline, uncut. Of each document only the newest version is whole.
pub(super) fn draft<'a>(input: &'a RenderInput<'_>) -> Draft<'a> {
    let mut draft = first_entry(input);
    let (outcomes, retractions) = outcomes(input.events);
    for event in input.events {
        match &event.body {
            Body::Message { speaker: Speaker::User, text, tokens, .. } => {
                push_user_message(&mut draft, event.sequence, Block::text_with_tokens(text.clone(), *tokens));
            }
            Body::Message { speaker: Speaker::Assistant, text, tokens, opaque } => {
                let round = round_of(&mut draft.rounds, event);
                round.texts.push(Block::text_with_tokens(text.clone(), *tokens));
                let of_provider = opaque.iter().filter(|opaque| opaque.provider == input.provider);
                round.opaque.extend(of_provider.map(|opaque| Block::opaque(opaque.data.clone())));
            }
            Body::Question { text, documents } => {
                draft.rounds.push(question_round(event.sequence, text, documents));
            }
            Body::Call(called) => {
                // Documents of an answer belong to the round of the call, and are numbered by the answer.
                let own = (event.sequence, &called.outcome);
                let (at, outcome) = outcomes.get(&event.sequence).copied().unwrap_or(own);
                let round = round_of(&mut draft.rounds, event);
                round.documents.extend(attach(at, &outcome.documents));
                push_call(round, event, called, outcome);
            }
            Body::Decision { decides, outcome } if retractions.contains(&event.sequence) => {
                push_user_message(&mut draft, event.sequence, retraction(input.events, *decides, outcome));
            }
            // Applied to their calls above, by `outcomes`.
            Body::Answer { .. } | Body::Decision { .. } | Body::Other => {}
        }
    }
    finish(&mut draft, input);
    draft
}

/// The draft before its rounds: the request, and the gap for entries that were not read.
fn first_entry<'a>(input: &RenderInput<'_>) -> Draft<'a> {
    let request = &input.request;
    Draft {
        request: (request.sequence, Block::text(request.text.clone())),
        documents: attach(request.sequence, &request.documents),
        gap: gap(input),
        ..Draft::default()
    }
}

/// The gap for entries that were not read.
fn gap(input: &RenderInput<'_>) -> Option<Gap> {
    let first = input.request.sequence + 1;
    let sequences = (first, first + input.unread.saturating_sub(1));
    (input.unread > 0).then(|| Gap::new(sequences, true))
}

/// The latest outcome of each waiting call, by the call's sequence number, with that of the outcome. A retraction of an
/// approval does not replace it, since the model may have acted on it. The sequence numbers of retractions are
/// returned, to be rendered where they occurred.
fn outcomes(events: &[Event]) -> (HashMap<u64, (u64, &Outcome)>, HashSet<u64>) {
    let (mut outcomes, mut approved, mut retractions) = (HashMap::new(), HashSet::new(), HashSet::new());
    for event in events {
        match &event.body {
            Body::Decision { decides, outcome } if outcome.is_error && approved.contains(decides) => {
                retractions.insert(event.sequence);
            }
            Body::Decision { decides, outcome } if !outcome.is_error => {
                approved.insert(*decides);
                outcomes.insert(*decides, (event.sequence, outcome));
            }
            Body::Answer { answers: of, outcome } | Body::Decision { decides: of, outcome } => {
                outcomes.insert(*of, (event.sequence, outcome));
            }
            Body::Message { .. } | Body::Question { .. } | Body::Call(_) | Body::Other => {}
        }
    }
    (outcomes, retractions)
}

/// The message for an approved call that will not be carried out.
fn retraction(events: &[Event], call: u64, outcome: &Outcome) -> Block {
    let called = events.iter().find(|event| event.sequence == call).map(|event| &event.body);
    let tool = match called {
        Some(Body::Call(called)) => called.tool.as_str(),
        _ => "a tool",
    };
    Block::text(format!(
        "[The approved call of {tool} was not carried out, and is not any more. {}]",
        outcome.content
    ))
}

/// The round of a question. Later events never belong to rounds before it.
fn question_round<'a>(sequence: u64, text: &str, documents: &[DocumentVersion]) -> Round<'a> {
    Round {
        sequences: (sequence, sequence),
        documents: attach(sequence, documents),
        user_messages: vec![Block::text(text.to_owned())],
        is_question: true,
        ..Round::default()
    }
}

fn push_user_message(draft: &mut Draft<'_>, sequence: u64, block: Block) {
    match draft.rounds.last_mut() {
        Some(round) => {
            round.user_messages.push(block);
            round.sequences.1 = round.sequences.1.max(sequence);
        }
        None => draft.user_messages.push((sequence, block)),
    }
}

/// The round of an event's step, created if there is none.
fn round_of<'r, 'a>(rounds: &'r mut Vec<Round<'a>>, event: &Event) -> &'r mut Round<'a> {
    // Calls of a step may end late, so it need not be the last round; searched from the end, since it is never far
    // back. Steps restart where the timeline of another task begins, so only rounds after the last question are
    // searched.
    let own = rounds.iter().rposition(|round| round.is_question).map_or(0, |at| at + 1);
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

/// Adds a call to a round. A call that waited repeatedly has several entries; the last one replaces the others.
fn push_call<'a>(round: &mut Round<'a>, event: &Event, called: &'a ToolCall, outcome: &'a Outcome) {
    let is_again = |call: &&mut DraftCall<'_>| !called.id.is_empty() && call.given_id == called.id;
    if let Some(earlier) = round.calls.iter_mut().find(is_again) {
        (earlier.sequence, earlier.outcome) = (event.sequence, outcome);
        return;
    }
    round.calls.push(DraftCall {
        sequence: event.sequence,
        position: event.position,
        given_id: &called.id,
        id: String::new(),
        tool: &called.tool,
        is_thought: called.is_thought,
        outcome,
        tool_use: match called.input.as_str() {
            "" => blocks::tool_use(&called.tool, "{}", None),
            input => blocks::tool_use(&called.tool, input, called.input_tokens),
        },
        result: Block::default(),
    });
}

fn attach(sequence: u64, references: &[DocumentVersion]) -> Vec<AttachedDocument> {
    let attached = |reference: &DocumentVersion| AttachedDocument {
        sequence,
        reference: reference.clone(),
        form: DocumentForm::Whole,
        block: Block::default(),
    };
    references.iter().map(attached).collect()
}

/// Orders the calls, assigns their ids, and renders results and documents. Last, because ids must be unique over all
/// calls, and whether a document is the newest version depends on all rounds.
fn finish(draft: &mut Draft<'_>, input: &RenderInput<'_>) {
    let mut ids = HashSet::new();
    for round in &mut draft.rounds {
        round.calls.sort_by_key(|call| (call.position, call.sequence));
        for call in &mut round.calls {
            call.id = unique_id(call, &mut ids);
            if let Content::Use { id, .. } = &mut call.tool_use.content {
                id.clone_from(&call.id);
            }
            call.result = blocks::result(input, call.sequence, &call.id, call.tool, call.outcome, false);
        }
    }
    keep_newest_versions(draft);
    for attached in draft.documents_mut() {
        attached.block = blocks::document(input, attached.sequence, &attached.reference, attached.form);
    }
}

/// The model's own identifier if it is valid for every provider and not taken; otherwise one from the sequence number.
fn unique_id(call: &DraftCall<'_>, ids: &mut HashSet<String>) -> String {
    let is_plain = |id: &str| id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let is_good = (1..=MAX_ID).contains(&call.given_id.len()) && is_plain(call.given_id);
    let own = format!("call_{}", call.sequence);
    let mut id = if is_good && !ids.contains(call.given_id) { call.given_id.to_owned() } else { own };
    while !ids.insert(id.clone()) {
        id.push('_');
    }
    id
}

/// Makes all documents of one path references but the newest version, at its last occurrence.
fn keep_newest_versions(draft: &mut Draft<'_>) {
    let mut all = draft.documents_mut();
    let mut newest: BTreeMap<String, (u32, usize)> = BTreeMap::new();
    for (at, attached) in all.iter().enumerate() {
        let known = newest.entry(attached.reference.path.clone()).or_default();
        *known = (*known).max((attached.reference.version, at));
    }
    for (at, attached) in all.iter_mut().enumerate() {
        if newest[&attached.reference.path].1 != at {
            attached.form = DocumentForm::Reference;
        }
    }
}
