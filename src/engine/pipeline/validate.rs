//! Validate: checks the arguments against the tool's schema and reports all violations at once; then normalizes them to
//! the tool's canonical form. No invalid call is stored or executed.

use std::mem;

use futures_util::{
    FutureExt,
    future::{BoxFuture, Either, Ready, ready},
};
use serde_json::Value;

use super::{Call, CallResult, Inner};
use crate::registry::Invalid;
use toolwire_base::{
    middleware::{Middleware, take_ready},
    offload,
};
use toolwire_contract::{ToolError, json::is_longer, redaction::REDACTED};
use toolwire_schema::Work;

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

/// The outcome of a check.
enum Checked {
    Valid(Box<Call>),
    Ended(Box<CallResult>),
    /// The check would delay other calls here: it runs on a thread of long work.
    TooLong(Box<Call>),
}

impl<S: Inner> Middleware<Box<Call>, S> for Validate {
    type Future = Either<Either<Ready<CallResult>, S::Future>, BoxFuture<'static, CallResult>>;

    fn call(&self, call: Box<Call>, inner: &mut S) -> Self::Future {
        let checked = if is_longer(&call.arguments, offload::SMALL) {
            Checked::TooLong(call)
        } else {
            self.check(call, Work::little())
        };
        match checked {
            Checked::Valid(call) => Either::Left(Either::Right(inner.call(call))),
            Checked::Ended(end) => Either::Left(Either::Left(ready(*end))),
            Checked::TooLong(call) => {
                let (this, mut inner) = (*self, take_ready(inner));
                let checked = async move {
                    match this.check_elsewhere(call).await {
                        Ok(call) => inner.call(call).await,
                        Err(end) => *end,
                    }
                };
                Either::Right(checked.boxed())
            }
        }
    }
}

impl Validate {
    /// Checks a call that is not passed on. Returns it with checked arguments, or its end.
    pub(super) async fn check_alone(self, call: Box<Call>) -> Result<Box<Call>, Box<CallResult>> {
        if is_longer(&call.arguments, offload::SMALL) {
            return self.check_elsewhere(call).await;
        }
        match self.check(call, Work::little()) {
            Checked::Valid(call) => Ok(call),
            Checked::Ended(end) => Err(end),
            Checked::TooLong(call) => self.check_elsewhere(call).await,
        }
    }

    /// Checks arguments of much work on a thread that carries no calls. Returns the call, or its end.
    async fn check_elsewhere(self, call: Box<Call>) -> Result<Box<Call>, Box<CallResult>> {
        let user = call.context.user.id.shared();
        let check = offload::if_large(usize::MAX, move || self.check(call, Work::all()));
        match offload::on_behalf(user, check).await {
            Checked::Valid(call) => Ok(call),
            Checked::Ended(end) => Err(end),
            Checked::TooLong(mut call) => {
                let violations = Invalid::TooMuchWork(mem::take(&mut call.arguments)).into_violations();
                Err(Box::new(Ok(call.failed(ToolError::invalid_arguments(violations)))))
            }
        }
    }

    fn check(self, mut call: Box<Call>, work: Work) -> Checked {
        if let Some(error) = call.given.take_error() {
            return Checked::Ended(Box::new(Ok(call.failed(error))));
        }
        let raw = mem::take(&mut call.arguments);
        let mut arguments = match call.tool().input.check_within(raw, work) {
            Ok(arguments) => arguments,
            Err(Invalid::Broken(violations)) => {
                return Checked::Ended(Box::new(Ok(call.failed(call.given.invalid_arguments(violations)))));
            }
            Err(Invalid::TooMuchWork(raw)) => {
                call.arguments = raw;
                return Checked::TooLong(call);
            }
        };
        // From here on they belong to the arguments: digests, caches and persons see them.
        if let Err(lacking) = call.tool().input.fill(&mut arguments, &call.context) {
            return Checked::Ended(Box::new(Ok(call.failed(ToolError::invalid_arguments(lacking)))));
        }
        // Before the facts are set: the log shows the canonical form, by which records and caches are keyed.
        if let Some(executor) = &call.tool().executor {
            executor.normalize(&mut arguments, &call.context.services);
        }
        if self.keep_arguments {
            let shown = call.tool().input.mask(&arguments).into_owned();
            call.facts.set_arguments(Value::Object(shown).to_string());
        } else if call.context.ledger.is_some() {
            let names = arguments.keys().map(|name| (name.clone(), REDACTED.into()));
            call.facts.set_names(Value::Object(names.collect()).to_string());
        }
        call.arguments = arguments;
        Checked::Valid(call)
    }
}
