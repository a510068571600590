//! Language models: requests and answers, the same for all providers.
//!
//! A [`Model`] is asked once and answers with a stream: text and calls of tools as they come, then its end. Dropping
//! the stream drops the request. The twins are `scripted`, which answers as a test says, and the real one over the
//! network. Not here: prompts, tools and what is done with answers.

mod bound;
mod call_ids;
mod error;
pub mod genai;
mod retry;
pub mod scripted;
mod token;
mod whole;

use std::{fmt::Debug, sync::Arc};

use futures_util::stream::BoxStream;
use serde_json::Value;

pub use self::{error::ModelError, whole::Whole};
use toolwire_tool::context::ToolContext;

pub trait Model: Send + Sync + Debug {
    /// `provider/name`, such as `anthropic/claude-opus`, for people, logs and metrics.
    fn id(&self) -> &str;

    /// The form in which its provider takes tools.
    fn form(&self) -> ToolForm;

    /// Asks the model, at most until the deadline of the context. The stream ends with [`Part::End`] or an error, and
    /// nothing follows either.
    fn chat(&self, request: Request, context: &ToolContext) -> ResponseStream;
}

pub type ResponseStream = BoxStream<'static, Result<Part, ModelError>>;

/// A request to a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// The system prompt; empty for none.
    pub system: String,
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// The tools that it may call, declared in the model's form: a list, sent as it is.
    pub tools: Option<Arc<Value>>,
    /// Maximum length of the answer in tokens; without one, the provider's bound.
    pub max_tokens: Option<u32>,
    /// The schema of the JSON that the answer must be, where text is not wanted.
    pub json_schema: Option<Arc<Value>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    User(String),
    /// From the program that runs the conversation, such as results.
    System(String),
    /// From the model: its text, and its calls after it.
    Assistant {
        /// Empty if there are calls only.
        text: String,
        calls: Vec<ToolCall>,
    },
    /// The results of its calls, in their order.
    Results(Vec<ToolOutput>),
}

/// The form in which a provider takes tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolForm {
    Gemini,
    /// The functions of `OpenAI`'s chat completions.
    Openai,
    /// The tools of Anthropic's messages.
    Anthropic,
}

/// A call that a model makes.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// Names the call among those of the answer.
    pub id: String,
    /// What the model named: it may be no tool that was offered.
    pub tool: String,
    /// An object; or a text, where the model wrote no JSON.
    pub arguments: Value,
    /// What the provider wants back with the call, as it came.
    pub signatures: Vec<String>,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutput {
    pub call_id: String,
    pub tool: String,
    /// The text for the model.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    Text(String),
    /// All calls of the answer, together.
    Calls(Vec<ToolCall>),
    /// The answer is complete.
    End {
        stop: Stop,
        usage: Usage,
    },
}

/// Why an answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The model has finished.
    Done,
    /// The model waits for the results of its calls.
    Calls,
    /// The bound on the answer was reached: it is cut.
    Length,
}

/// The cost of an answer, if the provider reports it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
}

impl Message {
    /// What the model said, without calls.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant { text: text.into(), calls: Vec::new() }
    }
}
