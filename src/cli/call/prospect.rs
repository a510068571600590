//! `toolwire explain call`: what a call would come to now. The call is not made.

use std::time::Duration;

use clap::{Args, ValueEnum};
use toolwire_base::{clock, words::visible};
use toolwire_contract::proto::v1::{
    self, CallProspect,
    explain_call_request::{Input, Target},
};
use toolwire_server::{
    console::{self, Failure},
    domain::Domain,
};

use super::arguments::RawArguments;
use crate::{backend::into_answer, connection::Connection, json, limits, schema, words};

#[derive(Debug, Args)]
pub(crate) struct ExplainCall {
    /// The tool's name
    #[arg(value_name = "TOOL", index = 1)]
    tool: String,
    /// Arguments, as `toolwire call` takes them
    #[arg(value_name = "KEY=VALUE", index = 2)]
    pairs: Vec<String>,
    /// All arguments as a JSON object, none if empty; - reads it from standard input
    #[arg(long, value_name = "JSON", conflicts_with = "pairs", allow_hyphen_values = true)]
    json: Option<String>,
    /// Explains a call that a person must approve, although the tool does not demand it
    #[arg(long)]
    require_confirmation: bool,
    /// How the explanation is shown
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// For programs: one JSON object
    Json,
}

impl ExplainCall {
    pub(crate) async fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let given = match &self.json {
            Some(text) => RawArguments::json(text)?,
            None => RawArguments::words(&self.pairs.iter().map(String::as_str).collect::<Vec<_>>()),
        };
        let backend = self.connection.open(domains).await?;
        // Of a tool that cannot be described the explanation says why.
        let definition = backend.describe(&self.tool).await.ok();
        let schema = definition.map(|it| schema::parse(&it.input_schema_json)).unwrap_or_default();
        let request = v1::ExplainCallRequest {
            target: Some(Target::Tool(self.tool)),
            input: Some(Input::ArgumentsJson(given.into_json(&schema)?)),
            context: None,
            require_confirmation: self.require_confirmation,
        };
        let explained = into_answer(backend.tools().explain_call(request)).await?;
        match self.format {
            Format::Json => console::json_pretty(&json::explanation(&explained))?,
            Format::Text => lines(&explained).iter().try_for_each(|line| console::line(line).map(|_| ()))?,
        }
        match explained.prospect() {
            CallProspect::Refused | CallProspect::Invalid => Err(Failure::Reported),
            CallProspect::ConfirmationRequired => Err(Failure::AwaitsConfirmation),
            _ => Ok(()),
        }
    }
}

/// What would happen, then what each check says, a line each.
fn lines(it: &v1::ExplainCallResponse) -> Vec<String> {
    let mut lines = vec![visible(&it.summary)];
    lines.extend(it.field_violations.iter().map(|it| {
        let pointer = if it.pointer.is_empty() { "(arguments)" } else { &it.pointer };
        format!("  {pointer}  {}  {}", it.rule, visible(&it.description))
    }));
    if let Some(confirmation) = &it.confirmation {
        let may_decide = confirmation.may_decide.clone().unwrap_or_default();
        let decides = if may_decide.allowed { "you may decide" } else { &may_decide.reason };
        lines.push(format!(
            "  approval: because of {}; {}",
            words::cause(confirmation.cause()),
            visible(decides)
        ));
    }
    if it.request_id_required {
        lines.push("  request_id: required, as of every call that does not only read".to_owned());
    }
    lines.extend(it.quotas.iter().map(|it| format!("  quota of {}: {} left", it.quota, it.left)));
    if let Some(limit) = &it.limit {
        lines.push(format!("  source {}: {}", limit.source, limits::now(limit)));
    }
    match &it.cache {
        None => {}
        Some(cache) if cache.hit => {
            let age = cache.age.and_then(|age| Duration::try_from(age).ok()).unwrap_or_default();
            lines.push(format!("  cache: a result that is {} old", clock::exact_in_words(age)));
        }
        Some(_) => lines.push("  cache: no result".to_owned()),
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_check_has_its_line() {
        let may_decide = v1::MayDecide { reason: "it is your own call".to_owned(), ..Default::default() };
        let confirmation = v1::ExplainedConfirmation {
            cause: v1::ConfirmationCause::Condition.into(),
            may_decide: Some(may_decide),
            ..Default::default()
        };
        let limit =
            v1::SourceLimit { source: "shop".to_owned(), can_make_request: true, ..Default::default() };
        let quota =
            v1::QuotaStatus { quota: "10 calls in 1m".to_owned(), most: 10, left: 7, ..Default::default() };
        let explained = v1::ExplainCallResponse {
            prospect: CallProspect::ConfirmationRequired.into(),
            summary: "A person would have to approve it.".to_owned(),
            confirmation: Some(confirmation),
            request_id_required: true,
            quotas: vec![quota],
            limit: Some(limit),
            cache: Some(v1::CacheStatus::default()),
            ..Default::default()
        };
        assert_eq!(
            lines(&explained),
            [
                "A person would have to approve it.",
                "  approval: because of a condition on the arguments; it is your own call",
                "  request_id: required, as of every call that does not only read",
                "  quota of 10 calls in 1m: 7 left",
                "  source shop: at once",
                "  cache: no result",
            ]
        );
    }
}
