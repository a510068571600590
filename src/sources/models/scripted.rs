//! A scripted model for tests, which records its requests.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::{StreamExt, stream};

use super::{Model, ModelError, Part, Request, ResponseStream, Stop, ToolCall, ToolForm, Usage};
use toolwire_tool::context::ToolContext;

/// A scripted model. Cheap to clone; clones share what they were asked.
#[derive(Clone)]
pub struct Scripted {
    answers: Arc<Answers>,
    asked: Arc<Mutex<Vec<Request>>>,
}

/// Answers a request, given how many came before it.
type Answers = dyn Fn(&Request, usize) -> Script + Send + Sync;

pub type Script = Vec<Result<Part, ModelError>>;

impl Scripted {
    /// Answers by a function of the request and of how many came before it.
    pub fn by(answers: impl Fn(&Request, usize) -> Script + Send + Sync + 'static) -> Self {
        Self { answers: Arc::new(answers), asked: Arc::default() }
    }

    /// Gives one answer after the other, and cannot be reached after the last one.
    pub fn saying(scripts: impl IntoIterator<Item = Script>) -> Self {
        let scripts: Vec<_> = scripts.into_iter().collect();
        Self::by(move |_, turn| {
            scripts.get(turn).cloned().unwrap_or_else(|| vec![Err(ModelError::Unavailable)])
        })
    }

    /// What it was asked so far, oldest first.
    pub fn requests(&self) -> Vec<Request> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// An answer of nothing but text.
pub fn text(text: &str) -> Script {
    vec![Ok(Part::Text(text.to_owned())), Ok(end(Stop::Done))]
}

/// An answer of nothing but calls.
pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Script {
    vec![Ok(Part::Calls(calls.into_iter().collect())), Ok(end(Stop::Calls))]
}

/// The end of an answer that cost nothing.
pub fn end(stop: Stop) -> Part {
    Part::End { stop, usage: Usage::default() }
}

impl Model for Scripted {
    fn id(&self) -> &'static str {
        "scripted/script"
    }

    fn form(&self) -> ToolForm {
        ToolForm::Openai
    }

    fn chat(&self, request: Request, _: &ToolContext) -> ResponseStream {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let script = (self.answers)(&request, asked.len());
        asked.push(request);
        stream::iter(script).boxed()
    }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scripted").field("asked", &self.requests().len()).finish_non_exhaustive()
    }
}
