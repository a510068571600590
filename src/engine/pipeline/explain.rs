//! Explain: what a call would come to now, by the checks of the layers. Nothing is executed, recorded or requested.
//!
//! Not here: the limit of the tool's source, which the service asks for, and calls of tasks, whose answer depends on
//! what else their task does.

use std::{sync::Arc, time::Duration};

use super::{
    Call, CallResult,
    authorize::Authorize,
    cache::{Cache, CacheAnswer},
    confirm,
    quota::{EnforceQuotas, QuotaLeft},
    record, resolve,
    validate::Validate,
};
use crate::registry::{RegisteredTool, Registry};
use toolwire_contract::{
    ConfirmationCause, Refusal, Terminal, Violation, arguments::Arguments, proto::v1::ConsequenceLevel,
};

/// The layers whose checks an explanation consists of.
#[derive(Clone, Debug)]
pub(super) struct Explain {
    registry: Arc<Registry>,
    authorize: Authorize,
    pub(super) quotas: EnforceQuotas,
    cache: Cache,
}

/// What a call would come to.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The tool that the user may call; `None` if there is none.
    pub tool: Option<Arc<RegisteredTool>>,
    /// What is left of each quota of the user.
    pub quotas: Vec<QuotaLeft>,
    pub prospect: Prospect,
}

/// How far a call would come.
#[derive(Clone, Debug)]
pub enum Prospect {
    Refused(Refusal),
    /// The arguments break the schema.
    Invalid(Vec<Violation>),
    /// The call would pass all checks.
    Passes(Box<Passes>),
}

/// What a call that passes all checks would meet.
#[derive(Clone, Debug)]
pub struct Passes {
    /// The checked arguments that the caller gives, with defaults; the sensitive ones masked.
    pub arguments: Arguments,
    /// The confirmation that it would need.
    pub confirmation: Option<RequiredApproval>,
    /// Whether it needs a `request_id`.
    pub request_id_required: bool,
    /// What a cache has for it; `None` if its results are not cached.
    pub cache: Option<CacheAnswer>,
}

/// A confirmation that a call would need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequiredApproval {
    pub cause: ConfirmationCause,
    /// What the person would be shown.
    pub summary: String,
    pub consequence_level: ConsequenceLevel,
}

impl Explain {
    pub(super) fn new(
        registry: Arc<Registry>,
        authorize: Authorize,
        quotas: EnforceQuotas,
        cache: Cache,
    ) -> Self {
        Self { registry, authorize, quotas, cache }
    }

    /// The error is the refusal of this request, which counts as the call would: not if the user may not make it.
    pub(super) async fn explain(&self, call: Box<Call>) -> Result<Explanation, Refusal> {
        let call = resolve::resolve(Arc::clone(&self.registry))(call);
        if let Err(refusal) = self.authorize.check(&call) {
            // Of any other refused tool it is not revealed whether it exists.
            let is_known = matches!(refusal, Refusal::ToolDisabled { .. });
            let tool = call.facts.tool().filter(|_| is_known).cloned();
            return Ok(Explanation { tool, quotas: Vec::new(), prospect: Prospect::Refused(refusal) });
        }
        let quotas = self.quotas.count_request(&call).await?;
        let tool = Some(Arc::clone(call.tool()));
        let prospect = match Validate::new(false).check_alone(call).await {
            Err(end) => of_end(*end),
            Ok(call) => self.of_checked(call).await,
        };
        Ok(Explanation { tool, quotas, prospect })
    }

    /// Explains a call whose arguments are checked.
    async fn of_checked(&self, call: Box<Call>) -> Prospect {
        if let Some(refusal) = record::refuse_without_task(&call) {
            return Prospect::Refused(refusal);
        }
        let call = confirm::find_cause(call).await;
        let confirmation = call.cause.map(|cause| {
            let request = confirm::request(&call, cause);
            let (summary, consequence_level) = (request.summary, request.consequence_level);
            RequiredApproval { cause, summary, consequence_level }
        });
        Prospect::Passes(Box::new(Passes {
            arguments: call.tool().input.visible(&call.arguments),
            confirmation,
            request_id_required: call.writes(),
            cache: self.cache.look_up_alone(&call).await,
        }))
    }
}

impl Passes {
    /// The age of the result with which a cache would answer.
    pub fn cached_for(&self) -> Option<Duration> {
        match self.cache {
            Some(CacheAnswer::Hit(age)) => Some(age),
            Some(CacheAnswer::Miss) | None => None,
        }
    }
}

/// The end of a call whose arguments were not valid.
fn of_end(end: CallResult) -> Prospect {
    match end {
        Ok(Terminal::Result(result)) => {
            Prospect::Invalid(result.outcome.err().map(|error| error.violations).unwrap_or_default())
        }
        Ok(Terminal::ConfirmationRequired(_)) => Prospect::Invalid(Vec::new()),
        Err(refusal) => Prospect::Refused(refusal),
    }
}
