//! `POST /api/integrations/screener/import`: a screen is scraped again, at most once a day.
//!
//! Credentials that come along are kept as `SetScreenerCredentials` keeps them: in memory, and in no log.

use axum::{
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use http::{Extensions, StatusCode};
use serde_json::{Map, Value, json};

use crate::{
    proto::v1::{SetScreenerCredentialsRequest, research_service_client::ResearchServiceClient},
    sources::screener::PROFILE,
    tools::BrowseScreener,
};
use toolwire_contract::{ErrorCode, Terminal, ToolError};
use toolwire_engine::pipeline::Target;
use toolwire_server::faces::{
    http::{json_answer, json_body::Object, problem::Problem, route::Http},
    incoming,
    rest::confirmation_required,
};
use toolwire_tool::Tool;

/// How much was imported, and whether it had to be.
pub(super) async fn import(State(http): State<Http>, request: Request) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let mut body = Object::read(body, http.face.max_request_bytes).await?;
    let mut arguments = Map::from_iter([("force_refresh".to_owned(), Value::Bool(true))]);
    let screen_id = body.text("screen_id")?;
    if !screen_id.is_empty() {
        arguments.insert("screen_id".to_owned(), screen_id.into());
    }
    let (username, password) = (body.text("username")?, body.text("password")?);
    body.finish()?;
    if !username.is_empty() || !password.is_empty() {
        keep(&http, parts.extensions.clone(), username, password).await?;
    }
    may_scrape(&http, &parts.extensions).await?;
    let call =
        incoming::call(&parts.extensions, Target::Tool(BrowseScreener::NAME.to_owned()), Ok(arguments));
    let call_id = call.context.call_id.to_string();
    incoming::hand_over(&parts.extensions);
    let result = match http.face.tools.finish(call).await? {
        Terminal::Result(result) => result,
        Terminal::ConfirmationRequired(required) => return Err(confirmation_required(*required)),
    };
    let (data, warnings) = (result.outcome?, result.provenance.warnings);
    let data = data.json();
    let imported = json!({
        "screen_name": data["screen_name"],
        "imported": data["stocks_count"],
        "from_cache": data["from_cache"],
        "last_updated": data["last_updated"],
    });
    let answer = json_answer::with_warnings(json_answer::json(StatusCode::OK, &imported), &warnings);
    Ok(([("x-toolwire-call-id", call_id)], answer).into_response())
}

/// Fails if the site may not be scraped for the user now. The tool would answer from its copy, as `browse_screener`
/// does; an import needs a new one, and reports when it can be made.
async fn may_scrape(http: &Http, extensions: &Extensions) -> Result<(), Problem> {
    let user = incoming::user(extensions);
    let Ok(statuses) = http.face.tools.limits(&user, PROFILE.name).await else { return Ok(()) };
    let held =
        statuses.into_iter().find_map(|(_, status)| status.reason.map(|reason| (reason, status.wait_time)));
    match held.filter(|(_, wait)| !wait.is_zero()) {
        None => Ok(()),
        Some((reason, wait)) => {
            Err(ToolError::new(ErrorCode::RateLimited, reason).with_retry_after(wait).into())
        }
    }
}

/// Keeps the caller's credentials by the typed service, within the process.
async fn keep(
    http: &Http,
    extensions: Extensions,
    username: String,
    password: String,
) -> Result<(), Problem> {
    let mut message = tonic::Request::new(SetScreenerCredentialsRequest { username, password });
    *message.extensions_mut() = extensions;
    ResearchServiceClient::new(http.grpc.clone()).set_screener_credentials(message).await?;
    Ok(())
}
