//! Checks an answer while it arrives, and releases it sentence by sentence.
//!
//! Necessary, not sufficient: a right number in a wrong sentence passes. Not here: what to do about an issue.

mod allowed_facts;
mod block;
mod sentence;

use self::{
    allowed_facts::{AllowedFacts, Author},
    block::Block,
    sentence::Need,
};
use super::{
    bundle::ContextBundle,
    citations::marker,
    issue::{Issue, IssueKind},
    markdown::Line,
    sentences::{Part, Sentences},
};
use toolwire_planner::PlanRequest;

/// Checks one answer against the results of one turn.
#[derive(Debug)]
pub struct Checker {
    known: AllowedFacts,
    sentences: Sentences,
    block: Block,
    /// A block that has ended and needs a citation; the next line may be one.
    ended: Option<Block>,
    /// White space behind what has been given out.
    held: String,
    has_text: bool,
    is_stopped: bool,
    citations: Vec<String>,
    is_attributed: bool,
}

/// A part of an answer that has passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// As it stands, the white space before it included.
    pub text: String,
    /// Whether it is a citation that was missing, put there by the checker.
    pub is_attribution: bool,
}

/// The state of the text so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Released {
    /// The sentences that passed, in order. Together they are the answer.
    pub sentences: Vec<Sentence>,
    /// What is wrong with the sentence behind them. It is left out, and so is everything after it.
    pub issue: Option<Issue>,
}

impl Checker {
    /// A checker of an answer to a message, over the results of its calls.
    pub fn new(bundle: &ContextBundle, request: &PlanRequest<'_>) -> Self {
        Self::over(AllowedFacts::of(bundle, request, Author::Ours))
    }

    /// A checker of an answer that a model writes.
    pub fn of_model(bundle: &ContextBundle, request: &PlanRequest<'_>) -> Self {
        Self::over(AllowedFacts::of(bundle, request, Author::Model))
    }

    /// Allows what an answer without a model may say, from now on.
    pub fn without_model(&mut self, bundle: &ContextBundle, request: &PlanRequest<'_>) {
        self.known = AllowedFacts::of(bundle, request, Author::Ours);
        self.known.facts.sort();
    }

    fn over(mut known: AllowedFacts) -> Self {
        known.facts.sort();
        Self {
            known,
            sentences: Sentences::default(),
            block: Block::default(),
            ended: None,
            held: String::new(),
            has_text: false,
            is_stopped: false,
            citations: Vec::new(),
            is_attributed: false,
        }
    }

    /// Takes the next part of the answer, and releases the sentences that are complete and pass. After an issue it
    /// takes nothing until [`Self::resume`].
    pub fn release(&mut self, delta: &str) -> Released {
        if self.is_stopped {
            return Released::default();
        }
        self.sentences.push(delta);
        self.collect(Sentences::next)
    }

    /// Ends the answer: releases the rest of it, and the citation of its last block.
    pub fn finish(&mut self) -> Released {
        if self.is_stopped {
            return Released::default();
        }
        let mut released = self.collect(Sentences::rest);
        if released.issue.is_none() {
            self.end_block();
            let last = self.cite_ended(false);
            self.take(last.map(|sentence| sentence.into_iter().collect()), &mut released);
        }
        released
    }

    /// Prepares for another text after the released one, in a block of its own.
    pub fn resume(&mut self) {
        self.sentences.clear();
        self.is_stopped = false;
        self.end_block();
        // A block that no single source covers was the issue of the first text.
        if self.ended.as_ref().is_some_and(|block| self.source_of(block).is_none()) {
            self.ended = None;
        }
        if self.has_text {
            "\n\n".clone_into(&mut self.held);
        }
    }

    /// The sources that are cited, in order of first mention.
    pub fn citations(&self) -> &[String] {
        &self.citations
    }

    /// Whether a citation was put in.
    pub const fn is_attributed(&self) -> bool {
        self.is_attributed
    }

    fn collect(&mut self, mut next: impl FnMut(&mut Sentences) -> Option<Part>) -> Released {
        let mut released = Released::default();
        while released.issue.is_none()
            && let Some(part) = next(&mut self.sentences)
        {
            let passed = self.part(&part, &mut released.sentences);
            self.take(passed.map(|()| Vec::new()), &mut released);
        }
        released
    }

    fn take(&mut self, passed: Result<Vec<Sentence>, Issue>, released: &mut Released) {
        match passed {
            Ok(sentences) => released.sentences.extend(sentences),
            Err(issue) => {
                self.is_stopped = true;
                released.issue = Some(issue);
            }
        }
    }

    fn part(&mut self, part: &Part, passed: &mut Vec<Sentence>) -> Result<(), Issue> {
        let line = if part.begins_line { Line::of(&part.text) } else { Line::Text };
        let is_blank = part.text.trim().is_empty();
        if is_blank && !part.is_code {
            // A heading belongs to what follows.
            if part.begins_line && !self.block.is_heading() {
                self.end_block();
            }
            self.held.push_str(&part.text);
            return Ok(());
        }
        let checked = sentence::check(part, line, &self.known, self.block.ordinals());
        let is_source_line = checked.as_ref().is_ok_and(sentence::Checked::is_source_line);
        passed.extend(self.cite_ended(is_source_line)?);
        let checked = checked?;
        for source_id in &checked.source_ids {
            self.cite(source_id);
        }
        self.block.add(line, part.is_code, &checked);
        passed.extend(self.give(&part.text));
        Ok(())
    }

    /// A part that passed. White space behind it waits: a citation may come before it.
    fn give(&mut self, text: &str) -> Option<Sentence> {
        let body = text.trim_end();
        let mut whole = std::mem::replace(&mut self.held, text[body.len()..].to_owned());
        if !self.has_text {
            whole.clear();
        }
        whole.push_str(body);
        self.has_text = true;
        (!whole.is_empty()).then_some(Sentence { text: whole, is_attribution: false })
    }

    fn end_block(&mut self) {
        let next = self.block.next();
        let block = std::mem::replace(&mut self.block, next);
        if block.need().is_some() {
            self.ended = Some(block);
        }
    }

    /// The citation that the block before needs, unless this line is it.
    fn cite_ended(&mut self, is_source_line: bool) -> Result<Option<Sentence>, Issue> {
        let Some(block) = self.ended.take() else { return Ok(None) };
        if is_source_line {
            return Ok(None);
        }
        let Some(source_id) = self.source_of(&block).map(str::to_owned) else {
            let first = block.need().map_or("", |need| need.first.as_str());
            return Err(Issue::new(IssueKind::Uncited, first));
        };
        self.cite(&source_id);
        self.is_attributed = true;
        let gap = if block.stands_alone() { "\n\n" } else { " " };
        Ok(Some(Sentence { text: format!("{gap}{}", marker(&source_id)), is_attribution: true }))
    }

    /// The one source that has all numbers of a block; of several the first.
    fn source_of(&self, block: &Block) -> Option<&str> {
        let Need { origins, .. } = block.need()?;
        let has_all = |(at, _): &(usize, &Vec<String>)| *at < 64 && origins & (1 << at) != 0;
        let mut sources = self.known.origins.iter().enumerate().filter(has_all);
        sources.find_map(|(_, sources)| sources.first()).map(String::as_str)
    }

    fn cite(&mut self, source_id: &str) {
        if !self.citations.iter().any(|it| it == source_id) {
            self.citations.push(source_id.to_owned());
        }
    }
}

#[cfg(test)]
mod tests;
