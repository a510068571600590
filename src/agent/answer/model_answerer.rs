//! The answerer that asks a model: with the results as a system message, and the sources that it may cite.
//! It has no tools. Not here: checking what it writes (`ground`).

use std::sync::Arc;

use futures_util::{
    Stream, StreamExt as _,
    stream::{self, BoxStream},
};

use super::{AnswerError, Answerer, Problem};
use crate::{
    ground::{ContextBundle, IssueKind},
    metered_model::{AskError, MeteredModel, Purpose},
    prompt_view,
    prompts::{Prompt, Prompts, Values},
};
use toolwire_planner::PlanRequest;
use toolwire_sources::models::{Message, ModelError, Part, Request, ResponseStream};

/// Answers of one turn by a model.
#[derive(Debug)]
pub(crate) struct ModelAnswerer {
    pub(crate) model: MeteredModel,
    pub(crate) prompts: Arc<Prompts>,
}

impl Answerer for ModelAnswerer {
    fn answer<'a>(
        &'a self,
        request: &'a PlanRequest<'a>,
        bundle: &'a ContextBundle,
        problem: Option<&'a Problem>,
    ) -> BoxStream<'a, Result<String, AnswerError>> {
        let begun = async move {
            let model_request = self.model_request(request, bundle, problem).await;
            match self.model.stream(Purpose::Answer, model_request) {
                Ok(answer) => texts(answer).boxed(),
                Err(unanswered) => stream::iter([Err(to_answer_error(unanswered))]).boxed(),
            }
        };
        stream::once(begun).flatten().boxed()
    }
}

impl ModelAnswerer {
    async fn model_request(
        &self,
        request: &PlanRequest<'_>,
        bundle: &ContextBundle,
        problem: Option<&Problem>,
    ) -> Request {
        let (sources, budget) = (prompt_view::sources(bundle), self.model.budget());
        let values = Values {
            today: &request.today.to_string(),
            account: request.account.unwrap_or_default(),
            sources: &sources,
            ..Values::default()
        };
        let system = self.prompts.render(Prompt::ToolAnswer, &values);
        let mut messages = prompt_view::conversation(request, budget);
        messages.extend(prompt_view::results(request, budget).await);
        if let Some(problem) = problem {
            if !problem.released.is_empty() {
                messages.push(Message::assistant(problem.released.as_str()));
            }
            let values = Values { problem: in_words(problem.issue.kind), ..values };
            messages.push(Message::User(self.prompts.render(Prompt::RepairAnswer, &values)));
        }
        Request { system, messages, ..Request::default() }
    }
}

/// The texts of an answer as they arrive. Calls in it are ignored; an answer without text or without an end is an
/// error.
fn texts(answer: ResponseStream) -> impl Stream<Item = Result<String, AnswerError>> + Send {
    stream::unfold(Some((answer, false)), |state| async move {
        let (mut answer, mut has_spoken) = state?;
        loop {
            let error = match answer.next().await {
                Some(Ok(Part::Text(text))) => {
                    has_spoken |= !text.trim().is_empty();
                    return Some((Ok(text), Some((answer, has_spoken))));
                }
                Some(Ok(Part::Calls(_))) => continue,
                Some(Ok(Part::End { .. })) if has_spoken => return None,
                Some(Ok(Part::End { .. })) => {
                    AnswerError { reason: "the model answered without a word".to_owned(), is_spent: false }
                }
                Some(Err(error)) => to_answer_error(error.into()),
                None => to_answer_error(ModelError::Malformed.into()),
            };
            return Some((Err(error), None));
        }
    })
}

/// The issue in words for the model, without quoting what it wrote, which it would repeat.
const fn in_words(kind: IssueKind) -> &'static str {
    match kind {
        IssueKind::Number => {
            "it was about to say a number, or its unit, currency or direction, that no result has."
        }
        IssueKind::Citation => "it was about to cite what is not a source of this turn.",
        IssueKind::Link => "it was about to show an address that no result has, an image or HTML.",
        IssueKind::Uncited => "a part of it has numbers of several results and no citation.",
        IssueKind::Name => {
            "it was about to give figures of results to a name that no result and no call has."
        }
    }
}

fn to_answer_error(unanswered: AskError) -> AnswerError {
    AnswerError { reason: unanswered.to_string(), is_spent: unanswered == AskError::Spent }
}
