//! What a tool is in Rust: a typed function from its input message to its output message.
//!
//! Everything else about a tool stands in its manifest. No tool knows which face called it.

#![warn(missing_docs)]

pub mod argument;
pub mod context;
pub mod single_flight;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use prost::Message;
use prost_reflect::{MessageDescriptor, ReflectMessage};
use serde_json::Value;

use crate::context::{Required, Services, ToolContext, Unfinished};
use toolwire_contract::{
    ErrorCode, Payload, Provenance, ToolError,
    arguments::{self, Arguments},
    transcode::Encoder,
};

/// A tool: a typed function, offered by its line in the list of its domain's tools.
pub trait Tool: Send + Sync + 'static {
    /// The name, the same as the manifest's.
    const NAME: &'static str;
    /// The arguments. They have passed the manifest's schema, defaults included.
    type Input: ReflectMessage + Default;
    /// The data of the result.
    type Output: ReflectMessage + Default;

    /// The services that it gets from its context. It gets no others, and start-up refuses it where one is missing.
    fn services() -> Required {
        Required::none()
    }

    /// Brings checked arguments into one form, so that what means the same is the same to caches and repeats: two
    /// spellings of a symbol, say. What it cannot read stays as it is, for `execute` to refuse.
    fn normalize(_arguments: &mut Arguments, _services: &Services) {}

    /// What a result depends on beside its arguments and its source, such as a list that the user keeps. A cached
    /// result is used only where this is the same.
    fn state<'a>(
        &'a self,
        _arguments: &Arguments,
        _context: &'a ToolContext,
    ) -> Option<BoxFuture<'a, String>> {
        None
    }

    /// Does the work. Check `context.cancellation` before each request to the outside; the future is dropped when the
    /// call ends early, unless the tool writes.
    fn execute(
        &self,
        input: Self::Input,
        context: &ToolContext,
    ) -> impl Future<Output = Result<Reply<Self::Output>, Unfinished>> + Send;
}

/// What a tool returns.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply<T> {
    /// Becomes the result, or an argument of the calling tool.
    pub data: T,
    /// Where it came from.
    pub provenance: Provenance,
}

/// A tool without its types: what the registry holds and the pipeline executes.
pub trait Executor: Send + Sync {
    /// The name, the same as the manifest's.
    fn name(&self) -> &str;
    /// The form of its arguments and of its results.
    fn schema(&self) -> Shape;
    /// The services that it gets from its context.
    fn services(&self) -> Required;
    /// Brings checked arguments into one form. Of the given services it gets those that it declares.
    fn normalize(&self, arguments: &mut Arguments, services: &Services);
    /// What a result depends on beside its arguments and its source.
    fn state<'a>(&'a self, arguments: &Arguments, context: &'a ToolContext) -> Option<BoxFuture<'a, String>>;
    /// Does the work.
    fn execute<'a>(
        &'a self,
        arguments: Arguments,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Reply<Payload>, Unfinished>>;
}

/// What a tool takes and returns.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Encoded messages of these types.
    Messages {
        /// The message that arguments are decoded into.
        input: MessageDescriptor,
        /// The message that a result is encoded from.
        output: MessageDescriptor,
    },
    /// JSON, by these schemas: of tools that are executed in other processes.
    Json {
        /// A closed object.
        input: Arc<Value>,
        /// An object.
        output: Arc<Value>,
    },
}

impl Shape {
    /// The messages of arguments and results. `None` if they are JSON.
    pub fn messages(self) -> Option<(MessageDescriptor, MessageDescriptor)> {
        match self {
            Self::Messages { input, output } => Some((input, output)),
            Self::Json { .. } => None,
        }
    }
}

/// Erases the types of a tool.
pub fn erase<T: Tool>(tool: T) -> Arc<dyn Executor> {
    let encoder = Encoder::new(&T::Input::default().descriptor());
    Arc::new(Typed { tool, services: T::services(), encoder, output: T::Output::default().descriptor() })
}

struct Typed<T> {
    tool: T,
    /// Kept, since every call needs it.
    services: Required,
    /// Encodes the input.
    encoder: Encoder,
    output: MessageDescriptor,
}

impl<T: Tool> Executor for Typed<T> {
    fn name(&self) -> &str {
        T::NAME
    }

    fn schema(&self) -> Shape {
        Shape::Messages { input: T::Input::default().descriptor(), output: self.output.clone() }
    }

    fn services(&self) -> Required {
        self.services.clone()
    }

    fn normalize(&self, arguments: &mut Arguments, services: &Services) {
        T::normalize(arguments, &services.only(&self.services));
    }

    fn state<'a>(&'a self, arguments: &Arguments, context: &'a ToolContext) -> Option<BoxFuture<'a, String>> {
        self.tool.state(arguments, context)
    }

    fn execute<'a>(
        &'a self,
        arguments: Arguments,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Reply<Payload>, Unfinished>> {
        Box::pin(async move {
            let input = arguments::to_message(arguments, &self.encoder)
                .map_err(|misfit| ToolError::new(ErrorCode::InvalidArgument, misfit.to_string()))?;
            let Reply { data, provenance } = self.tool.execute(input, context).await?;
            Ok(Reply { data: Payload::from_bytes(data.encode_to_vec(), self.output.clone()), provenance })
        })
    }
}

/// Calls another tool through the pipeline, within the remaining time of the given context.
pub async fn call<T: Tool>(input: &T::Input, context: &ToolContext) -> Result<Reply<T::Output>, Unfinished> {
    let arguments =
        arguments::from_message(input).map_err(|why| ToolError::invalid_arguments(vec![why.into()]))?;
    let (payload, provenance) = context.caller.call_tool(context, T::NAME, arguments).await?;
    let data = payload
        .decode()
        .map_err(|wrong| ToolError::new(ErrorCode::Unknown, format!("{}: {wrong}", T::NAME)))?;
    Ok(Reply { data, provenance })
}
