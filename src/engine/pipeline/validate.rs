//! Validate: checks the arguments against the tool's schema and reports all violations at once; then normalizes them to
//! the tool's canonical form. No invalid call is stored or executed.

use std::mem;

use futures_util::future::{Either, Ready, ready};
use serde_json::Value;

use super::{Call, CallResult, Inner};
use toolwire_base::middleware::Middleware;
use toolwire_contract::ToolError;

/// Replaces values that the log does not show.
const REDACTED: &str = "[redacted]";

/// Answers arguments that break the schema with `INVALID_ARGUMENT` in the result, and adds defaults to valid ones.
#[derive(Clone, Copy, Debug)]
pub struct Validate {
    keep_arguments: bool,
}

impl Validate {
    /// The text of checked arguments is kept for the log only if `keep_arguments` is set.
    pub fn new(keep_arguments: bool) -> Self {
        Self { keep_arguments }
    }
}

impl<S: Inner> Middleware<Box<Call>, S> for Validate {
    type Future = Either<Ready<CallResult>, S::Future>;

    fn call(&self, mut call: Box<Call>, inner: &mut S) -> Self::Future {
        if let Some(error) = call.given.take_error() {
            return Either::Left(ready(Ok(call.failed(error))));
        }
        let raw = mem::take(&mut call.arguments);
        match call.tool().input.check(raw) {
            Err(violations) => Either::Left(ready(Ok(call.failed(call.given.invalid_arguments(violations))))),
            Ok(mut arguments) => {
                // From here on they belong to the arguments: digests, caches and persons see them.
                if let Err(lacking) = call.tool().input.fill(&mut arguments, &call.context) {
                    return Either::Left(ready(Ok(call.failed(ToolError::invalid_arguments(lacking)))));
                }
                // Before the facts are set: the log shows the canonical form, by which records and caches are keyed.
                if let Some(executor) = &call.tool().executor {
                    executor.normalize(&mut arguments, &call.context.services);
                }
                if self.keep_arguments {
                    let shown = call.tool().input.shown(&arguments).into_owned();
                    call.facts.set_arguments(Value::Object(shown).to_string());
                } else if call.context.ledger.is_some() {
                    let names = arguments.keys().map(|name| (name.clone(), REDACTED.into()));
                    call.facts.set_names(Value::Object(names.collect()).to_string());
                }
                call.arguments = arguments;
                Either::Right(inner.call(call))
            }
        }
    }
}
