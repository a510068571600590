//! The answer: written by the answerer, checked as it comes, and sent sentence by sentence.

use std::sync::Arc;

use futures_util::StreamExt;

use super::{Turn, WITHOUT};
use crate::{
    answer::{
        AnswerError, Answerer, Problem, Response, embedded::quote::quote, planned_answer::PlannedAnswer,
    },
    ground::{Checker, ContextBundle, Issue, IssueKind, Released},
    turn::{Event, Outcome, REPLACED},
};
use toolwire_contract::{
    ErrorCode,
    proto::agent::v1::{
        AnswerDelta, Validation, ValidationAction, ValidationIssue, ValidationIssueKind,
        turn_event::Event as Told,
    },
};
use toolwire_planner::Made;
use toolwire_telemetry::metric;

impl Turn<'_> {
    /// Makes an answer and gives out what passes, up to the first issue.
    pub(super) async fn answer(&mut self, outcome: Outcome, attempt: u32) -> Event {
        let has_data = self.cycle.made.iter().any(|made| made.result.outcome.is_ok());
        if !has_data && (outcome != Outcome::Answered || !self.cycle.made.is_empty()) {
            return self.denial().map_or(Event::Nothing, |words| {
                self.draft.words = words;
                Event::Question
            });
        }
        // A repair goes on with the checker of the first attempt: what it has released cannot be taken back.
        let mut checker = if let Some(mut checker) = self.draft.checker.take() {
            checker.resume();
            if attempt >= REPLACED {
                checker.without_model(&self.draft.bundle, &self.plan_request());
            }
            checker
        } else {
            self.draft.bundle =
                ContextBundle::of(&self.plan_request(), &self.cycle.call_ids, &self.parts.contexts);
            if self.chosen.model_answers {
                Checker::of_model(&self.draft.bundle, &self.plan_request())
            } else {
                Checker::new(&self.draft.bundle, &self.plan_request())
            }
        };
        // Taken, so that a second attempt does not see the issue of the first again.
        let problem =
            self.draft.issue.take().map(|issue| Problem { issue, released: self.draft.answer.clone() });
        let written = self.draft.written.take().filter(|_| attempt == 0 && self.chosen.model_answers);
        // First the text that came with the plan, then the model, and after a failed repair the embedded answerer.
        let answerer: Arc<dyn Answerer> = match written {
            Some(text) => Arc::new(PlannedAnswer(text)),
            None if attempt < REPLACED => Arc::clone(&self.chosen.answerer),
            None => Arc::clone(&self.parts.embedded),
        };
        let mut given = String::new();
        let made = write_answer(&*answerer, self, problem.as_ref(), &mut checker, &mut given).await;
        self.draft.answer.push_str(&given);
        self.draft.citations = checker.citations().to_vec();
        let is_attributed = checker.is_attributed();
        // Kept before the outcome is looked at: a failed attempt has released sentences too.
        self.draft.checker = Some(checker);
        match made {
            Ok(issue) => {
                self.draft.issue = issue;
                self.note(attempt, is_attributed);
                Event::Answer
            }
            Err(error) => {
                let goes_on = error.is_spent || std::mem::take(&mut self.chosen.falls_back);
                self.draft.warnings.push(error.reason);
                if attempt < REPLACED && goes_on { self.answer_without_model() } else { Event::Failed }
            }
        }
    }

    /// Goes on with what is answered without a model.
    fn answer_without_model(&mut self) -> Event {
        self.draft.warnings.push(WITHOUT.to_owned());
        let mut validation = self.draft.validation.take().unwrap_or_default();
        validation.action = ValidationAction::Replaced.into();
        self.draft.validation = Some(validation);
        Event::Unanswered
    }

    /// The reply where a person denied everything: nothing failed, and no other wording is needed.
    fn denial(&self) -> Option<String> {
        let made = &self.cycle.made;
        let is_denied = |made: &Made| {
            made.result.outcome.as_ref().is_err_and(|it| it.code == ErrorCode::ConfirmationDenied)
        };
        if made.is_empty() || !made.iter().all(is_denied) {
            return None;
        }
        let title = |made: &Made| {
            let tool = self.offer.get(&made.call.tool).map(|tool| tool.definition.title.clone());
            quote(&tool.filter(|title| !title.is_empty()).unwrap_or_else(|| made.call.tool.clone()))
        };
        let titles: Vec<_> = made.iter().map(title).collect();
        Some(format!("Not done, because it was denied: {}.", titles.join(", ")))
    }

    /// Says what was found in the answer.
    pub(super) fn validate(&mut self, attempt: u32) -> Event {
        let Some(issue) = &self.draft.issue else { return Event::Clean };
        // Without a model the same answer would come again.
        if !self.chosen.model_answers || attempt >= REPLACED {
            self.draft
                .warnings
                .push(format!("the answer was cut: it has a {} that no result has", issue.kind.into_str()));
            return Event::Failed;
        }
        if attempt + 1 == REPLACED {
            self.draft.warnings.push(
                "the model's answer did not stand in the results; its rest was made without the model"
                    .to_owned(),
            );
        }
        Event::Issues
    }

    /// Notes what became of an attempt, and tells it.
    fn note(&mut self, attempt: u32, is_attributed: bool) {
        let action = match (&self.draft.issue, attempt) {
            (None, _) if is_attributed => ValidationAction::Attributed,
            (None, _) => ValidationAction::Passed,
            (Some(_), 0) => ValidationAction::Repaired,
            (Some(_), _) => ValidationAction::Replaced,
        };
        let issues: Vec<_> = self.draft.issue.iter().map(validation_issue).collect();
        let told = Validation { attempt: attempt + 1, issues: issues.clone(), action: action.into() };
        metric::agent_validation(action.as_str_name().trim_start_matches("VALIDATION_ACTION_"));
        let mut whole = self.draft.validation.take().unwrap_or_default();
        whole.attempt = told.attempt;
        whole.issues.extend(issues);
        whole.action = whole.action.max(told.action);
        self.draft.validation = Some(whole);
        self.log.tell(Told::Validation(told));
    }

    /// What stands in for an answer, where there is none: every fact that is known.
    pub(super) fn say_what_was_not_said(&mut self, outcome: Outcome) {
        if !self.draft.answer.is_empty() {
            return;
        }
        let draft = &mut self.draft;
        let words = match outcome {
            Outcome::Degraded | Outcome::ModelFailed => {
                let degraded = Response::degraded();
                draft.confidence = degraded.confidence;
                draft.question = degraded.clarifying_question;
                degraded.answer_markdown
            }
            _ if !draft.words.is_empty() => draft.words.clone(),
            _ => draft.question.clone().unwrap_or_default(),
        };
        draft.answer.clone_from(&words);
        if !words.is_empty() {
            self.log.tell(Told::AnswerDelta(AnswerDelta { text: words }));
        }
    }
}

/// Asks for an answer and gives out what passes of it: the first issue, or why there is no answer.
async fn write_answer(
    answerer: &dyn Answerer,
    turn: &Turn<'_>,
    problem: Option<&Problem>,
    checker: &mut Checker,
    given: &mut String,
) -> Result<Option<Issue>, AnswerError> {
    let asked = turn.plan_request();
    let mut deltas = answerer.answer(&asked, &turn.draft.bundle, problem);
    while let Some(delta) = deltas.next().await {
        if let Some(issue) = give(turn, checker.release(&delta?), given) {
            return Ok(Some(issue));
        }
    }
    Ok(give(turn, checker.finish(), given))
}

fn give(turn: &Turn<'_>, released: Released, given: &mut String) -> Option<Issue> {
    for sentence in released.sentences {
        given.push_str(&sentence.text);
        turn.log.tell(Told::AnswerDelta(AnswerDelta { text: sentence.text }));
    }
    released.issue
}

fn validation_issue(issue: &Issue) -> ValidationIssue {
    let kind = match issue.kind {
        IssueKind::Number => ValidationIssueKind::Number,
        IssueKind::Citation => ValidationIssueKind::Citation,
        IssueKind::Link => ValidationIssueKind::Link,
        IssueKind::Uncited => ValidationIssueKind::Uncited,
    };
    ValidationIssue { kind: kind.into(), text: issue.text.clone() }
}
