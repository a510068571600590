//! The answer: written by the answerer, checked as it comes, and sent sentence by sentence.

use std::sync::Arc;

use futures_util::StreamExt;

use super::{Turn, WITHOUT_MODEL};
use crate::{
    answer::{
        AnswerError, Answerer, Problem, degraded,
        embedded::{notes::title_of, quote::quote},
        planned_answer::PlannedAnswer,
    },
    ground::{Checker, ContextBundle, Issue, IssueKind, Released},
    turn::{Event, Outcome, REPLACED},
};
use toolwire_contract::{
    ErrorCode,
    proto::agent::v1::{
        AnswerDelta, Validation, ValidationAction, ValidationIssue, ValidationIssueKind,
        turn_event::Event as LogEvent,
    },
};
use toolwire_planner::ExecutedCall;
use toolwire_telemetry::metric;

impl Turn<'_> {
    /// Writes an answer and sends the sentences that pass, up to the first issue.
    pub(super) async fn answer(&mut self, outcome: Outcome, attempt: u32) -> Event {
        let has_data = self.cycle.made.iter().any(|made| made.result.outcome.is_ok());
        if !has_data && (outcome != Outcome::Answered || !self.cycle.made.is_empty()) {
            return self.denial().map_or(Event::Nothing, |words| {
                self.draft.words = words;
                Event::Question
            });
        }
        let mut checker = self.checker(attempt);
        // Taken, so that a second attempt does not see the issue of the first again.
        let problem =
            self.draft.issue.take().map(|issue| Problem { issue, released: self.draft.answer.clone() });
        let answerer = self.answerer(attempt);
        let mut sent = String::new();
        let written = write_answer(&*answerer, self, problem.as_ref(), &mut checker, &mut sent).await;
        self.draft.answer.push_str(&sent);
        self.draft.citations = checker.citations().to_vec();
        let is_attributed = checker.is_attributed();
        // Kept before the outcome is looked at: a failed attempt has released sentences too.
        self.draft.checker = Some(checker);
        match written {
            Ok(issue) => {
                self.draft.issue = issue;
                self.record_validation(attempt, is_attributed);
                Event::Answer
            }
            Err(error) => {
                let goes_on = error.is_spent || std::mem::take(&mut self.chosen.falls_back);
                self.draft.warnings.push(error.reason);
                if attempt < REPLACED && goes_on { self.answer_without_model() } else { Event::Failed }
            }
        }
    }

    /// The checker of an attempt. A repair goes on with that of the first attempt: what it has released cannot be taken
    /// back.
    fn checker(&mut self, attempt: u32) -> Checker {
        if let Some(mut checker) = self.draft.checker.take() {
            checker.resume();
            if attempt >= REPLACED {
                checker.without_model(&self.draft.bundle, &self.plan_request());
            }
            return checker;
        }
        self.draft.bundle =
            ContextBundle::of(&self.plan_request(), &self.cycle.call_ids, &self.parts.contexts);
        if self.chosen.model_answers {
            Checker::of_model(&self.draft.bundle, &self.plan_request())
        } else {
            Checker::new(&self.draft.bundle, &self.plan_request())
        }
    }

    /// The answerer of an attempt: first the text that came with the plan, then the model, and after a failed repair
    /// the embedded answerer.
    fn answerer(&mut self, attempt: u32) -> Arc<dyn Answerer> {
        // Taken in any case: a later attempt must not send the same text again.
        let text = self.draft.written.take().filter(|_| attempt == 0 && self.chosen.model_answers);
        match text {
            Some(text) => Arc::new(PlannedAnswer(text)),
            None if attempt < REPLACED => Arc::clone(&self.chosen.answerer),
            None => Arc::clone(&self.parts.embedded),
        }
    }

    /// Warns that the model failed, and goes on with an answer without it.
    fn answer_without_model(&mut self) -> Event {
        self.draft.warnings.push(WITHOUT_MODEL.to_owned());
        let mut validation = self.draft.validation.take().unwrap_or_default();
        validation.action = ValidationAction::Replaced.into();
        self.draft.validation = Some(validation);
        Event::AskError
    }

    /// The reply if no call was approved. Nothing failed then, and no other message would help, so it is not the
    /// degraded response.
    fn denial(&self) -> Option<String> {
        let made = &self.cycle.made;
        let why = |made: &ExecutedCall| match made.result.outcome.as_ref().err()?.code {
            ErrorCode::ConfirmationDenied => Some("it was denied"),
            ErrorCode::ConfirmationExpired => Some("it was not approved in time"),
            _ => None,
        };
        let title = |made: &ExecutedCall| quote(title_of(&self.offer, &made.call.tool));
        let mut titles: Vec<(&str, Vec<String>)> = Vec::new();
        for made in made {
            let why = why(made)?;
            match titles.iter_mut().find(|(other, _)| *other == why) {
                Some((_, titles)) => titles.push(title(made)),
                None => titles.push((why, vec![title(made)])),
            }
        }
        let sentence =
            |(why, titles): &(&str, Vec<String>)| format!("Not done, because {why}: {}.", titles.join(", "));
        let sentences: Vec<_> = titles.iter().map(sentence).collect();
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }

    /// Decides what follows an attempt: the end, a repair, or a failure.
    pub(super) fn validate(&mut self, attempt: u32) -> Event {
        let Some(issue) = &self.draft.issue else { return Event::Clean };
        // Without a model the same answer would come again.
        if !self.chosen.model_answers || attempt >= REPLACED {
            self.draft
                .warnings
                .push(format!("the answer was cut: it has a {} that no result has", issue.kind.into_str()));
            return Event::Failed;
        }
        // The repair has an issue too.
        if attempt + 1 == REPLACED {
            self.draft.warnings.push(
                "the model's answer did not stand in the results; its rest was made without the model"
                    .to_owned(),
            );
        }
        Event::Issues
    }

    /// Records the validation of an attempt, in the log and in the draft, where it is summed over the attempts.
    fn record_validation(&mut self, attempt: u32, is_attributed: bool) {
        let action = match (&self.draft.issue, attempt) {
            (None, _) if is_attributed => ValidationAction::Attributed,
            (None, _) => ValidationAction::Passed,
            (Some(_), 0) => ValidationAction::Repaired,
            (Some(_), _) => ValidationAction::Replaced,
        };
        let issues: Vec<_> = self.draft.issue.iter().map(validation_issue).collect();
        let validation = Validation { attempt: attempt + 1, issues: issues.clone(), action: action.into() };
        metric::agent_validation(action.as_str_name().trim_start_matches("VALIDATION_ACTION_"));
        let mut whole = self.draft.validation.take().unwrap_or_default();
        whole.attempt = validation.attempt;
        whole.issues.extend(issues);
        // The actions are ordered: the whole answer has the gravest of its attempts.
        whole.action = whole.action.max(validation.action);
        self.draft.validation = Some(whole);
        self.log.tell(LogEvent::Validation(validation));
    }

    /// Fills an answer that is empty: with the degraded response if calls or the model failed, else with the words or
    /// the question of the draft.
    pub(super) fn fill_empty_answer(&mut self, outcome: Outcome) {
        if !self.draft.answer.is_empty() {
            return;
        }
        let draft = &mut self.draft;
        let words = match outcome {
            Outcome::Degraded | Outcome::ModelFailed => {
                let degraded = degraded(&self.cycle.made, |tool| title_of(&self.offer, tool));
                draft.confidence = degraded.confidence;
                draft.question = degraded.clarifying_question;
                degraded.answer_markdown
            }
            _ if !draft.words.is_empty() => draft.words.clone(),
            _ => draft.question.clone().unwrap_or_default(),
        };
        draft.answer.clone_from(&words);
        if !words.is_empty() {
            self.log.tell(LogEvent::AnswerDelta(AnswerDelta { text: words }));
        }
    }
}

/// Asks for an answer and sends what passes of it, which is appended to `sent`. Returns the first issue.
async fn write_answer(
    answerer: &dyn Answerer,
    turn: &Turn<'_>,
    problem: Option<&Problem>,
    checker: &mut Checker,
    sent: &mut String,
) -> Result<Option<Issue>, AnswerError> {
    let request = turn.plan_request();
    let mut deltas = answerer.answer(&request, &turn.draft.bundle, problem);
    while let Some(delta) = deltas.next().await {
        if let Some(issue) = send(turn, checker.release(&delta?), sent) {
            return Ok(Some(issue));
        }
    }
    Ok(send(turn, checker.finish(), sent))
}

fn send(turn: &Turn<'_>, released: Released, sent: &mut String) -> Option<Issue> {
    for sentence in released.sentences {
        sent.push_str(&sentence.text);
        turn.log.tell(LogEvent::AnswerDelta(AnswerDelta { text: sentence.text }));
    }
    released.issue
}

fn validation_issue(issue: &Issue) -> ValidationIssue {
    let kind = match issue.kind {
        IssueKind::Number => ValidationIssueKind::Number,
        IssueKind::Citation => ValidationIssueKind::Citation,
        IssueKind::Link => ValidationIssueKind::Link,
        IssueKind::Uncited => ValidationIssueKind::Uncited,
        IssueKind::Name => ValidationIssueKind::Name,
    };
    ValidationIssue { kind: kind.into(), text: issue.text.clone() }
}
