//! Explanations of calls as messages.

use http::Extensions;

use super::{limits, quotas};
use crate::{
    faces::incoming,
    service::{explain::Explained, request},
};
use toolwire_contract::{
    Refusal,
    arguments::{self, Arguments},
    convert,
    proto::v1::{
        self, CallProspect, ExplainCallRequest, ExplainCallResponse,
        explain_call_request::{Input, Target as Named},
    },
    status,
};
use toolwire_engine::pipeline::{CacheAnswer, Call, CallOptions, Passes, Prospect, Target};

/// The call that a request wants explained.
pub(super) fn call(extensions: &Extensions, message: ExplainCallRequest) -> Result<Box<Call>, Refusal> {
    let target = message.target.map(|target| match target {
        Named::Tool(name) => Target::Tool(name),
        Named::Intent(intent) => Target::Intent(intent),
    });
    let arguments = match message.input {
        None => Ok(Arguments::new()),
        Some(Input::Arguments(structure)) => arguments::from_struct(structure),
        Some(Input::ArgumentsJson(text)) => arguments::from_text(&text),
    };
    let mut call = incoming::call(extensions, request::target(target)?, arguments);
    let options =
        CallOptions { require_confirmation: message.require_confirmation, ..CallOptions::default() };
    call.options = options.if_any();
    incoming::context(&mut call.context, message.context.unwrap_or_default())?;
    Ok(call)
}

pub(in crate::faces) fn render(explained: Explained) -> ExplainCallResponse {
    let summary = explained.summary();
    let Explained { explanation, why_not, limit } = explained;
    let definition = explanation.tool.as_ref().map(|tool| &tool.definition);
    let mut response = ExplainCallResponse {
        summary,
        tool: definition.map(|it| it.name.to_string()).unwrap_or_default(),
        definition_digest: definition.map(|it| it.digest.to_string()).unwrap_or_default(),
        quotas: explanation.quotas.into_iter().map(quotas::render).collect(),
        ..ExplainCallResponse::default()
    };
    let prospect = match explanation.prospect {
        Prospect::Refused(refusal) => {
            response.refusal = Some(v1::ExplainedRefusal {
                status: status::name(status::code_of_refusal(&refusal)).to_owned(),
                reason: status::reason_of(&refusal).to_owned(),
                message: refusal.to_string(),
            });
            CallProspect::Refused
        }
        Prospect::Invalid(violations) => {
            response.field_violations = violations.into_iter().map(convert::field_violation).collect();
            CallProspect::Invalid
        }
        Prospect::Passes(passes) => {
            let can_make_request = limit.as_ref().is_none_or(|(_, status)| status.can_make_request());
            response.limit = limit.map(limits::render);
            add_passes(&mut response, *passes, why_not, can_make_request)
        }
    };
    ExplainCallResponse { prospect: prospect.into(), ..response }
}

fn add_passes(
    response: &mut ExplainCallResponse,
    passes: Passes,
    why_not: Option<String>,
    can_make_request: bool,
) -> CallProspect {
    let prospect = match &passes {
        Passes { confirmation: Some(_), .. } => CallProspect::ConfirmationRequired,
        Passes { cache: Some(CacheAnswer::Hit(_)), .. } => CallProspect::Cached,
        _ if !can_make_request => CallProspect::Limited,
        _ => CallProspect::Executed,
    };
    response.arguments_json = serde_json::Value::Object(passes.arguments).to_string();
    response.request_id_required = passes.request_id_required;
    response.confirmation = passes.confirmation.map(|it| v1::ExplainedConfirmation {
        cause: v1::ConfirmationCause::from(it.cause).into(),
        summary: it.summary,
        may_decide: Some(v1::MayDecide {
            allowed: why_not.is_none(),
            reason: why_not.unwrap_or_default(),
            name_required: it.consequence_level == v1::ConsequenceLevel::High,
        }),
    });
    response.cache = passes.cache.map(|answer| match answer {
        CacheAnswer::Hit(age) => v1::CacheStatus { hit: true, age: Some(convert::duration(age)) },
        CacheAnswer::Miss => v1::CacheStatus { hit: false, age: None },
    });
    prospect
}
