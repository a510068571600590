//! Validate: the arguments against the tool's schema, all violations at once, and then in the tool's one form of them.
//! Nothing invalid is stored or executed.

use std::{
    mem,
    task::{Context, Poll},
};

use futures_util::future::{Either, Ready, ready};
use serde_json::Value;
use tower::Service;

use super::Call;
use toolwire_contract::{Refusal, Terminal};

/// Stands for a value that the log does not show.
const REDACTED: &str = "[redacted]";

/// Answers arguments that break the schema with `INVALID_ARGUMENT` in the result.
#[derive(Clone, Copy, Debug)]
pub struct Layer {
    keep_arguments: bool,
}

/// Passes calls on with arguments that fit the schema, defaults filled in.
#[derive(Clone, Debug)]
pub struct Validate<S> {
    inner: S,
    layer: Layer,
}

impl Layer {
    /// Keeps the text of checked arguments for the log only if asked to.
    pub fn new(keep_arguments: bool) -> Self {
        Self { keep_arguments }
    }
}

impl<S> tower::Layer<S> for Layer {
    type Service = Validate<S>;

    fn layer(&self, inner: S) -> Validate<S> {
        Validate { inner, layer: *self }
    }
}

impl<S: Service<Call, Response = Terminal, Error = Refusal>> Service<Call> for Validate<S> {
    type Response = Terminal;
    type Error = Refusal;
    type Future = Either<Ready<Result<Terminal, Refusal>>, S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Refusal>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut call: Call) -> Self::Future {
        if let Some(error) = call.given.error() {
            return Either::Left(ready(Ok(call.failed(error))));
        }
        let raw = mem::take(&mut call.arguments);
        match call.tool().input.check(raw) {
            Err(violations) => Either::Left(ready(Ok(call.failed(call.given.invalid(violations))))),
            Ok(mut arguments) => {
                if let Some(executor) = &call.tool().executor {
                    executor.normalize(&mut arguments, &call.context.services);
                }
                if self.layer.keep_arguments {
                    let shown = call.tool().input.shown(&arguments).into_owned();
                    call.facts.checked(Value::Object(shown).to_string());
                } else if call.context.ledger.is_some() {
                    let names = arguments.keys().map(|name| (name.clone(), REDACTED.into()));
                    call.facts.named(Value::Object(names.collect()).to_string());
                }
                call.arguments = arguments;
                Either::Right(self.inner.call(call))
            }
        }
    }
}
