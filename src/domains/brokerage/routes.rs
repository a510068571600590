//! Direct access to single tools: `GET /api/…`, answered by `{source_id, data, as_of}`; what the
//! result warns of is in headers.
//!
//! The parameters of a query are the tool's arguments; everything else is as in every other call.

use axum::{
    extract::{Request, State},
    response::{IntoResponse, Response},
    routing::get,
};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::tools::{
    GetAccountSummary, GetActivity, GetFacts, GetPerformance, GetPositions, GetPositionsList, GetQuotes,
    GetTransfers,
};
use toolwire_contract::Terminal;
use toolwire_engine::pipeline::Target;
use toolwire_server::faces::{
    http::{
        json_answer,
        problem::Problem,
        query::Query,
        route::{Http, Route},
    },
    incoming,
    rest::confirmation_required,
};
use toolwire_tool::Tool;
use toolwire_transport::rules::Rule;

pub(super) fn routes() -> Vec<Route> {
    vec![
        of::<GetActivity>("/api/activity"),
        of::<GetPositions>("/api/positions"),
        of::<GetPositionsList>("/api/positions_list"),
        of::<GetPerformance>("/api/performance"),
        of::<GetQuotes>("/api/quotes"),
        of::<GetFacts>("/api/facts"),
        of::<GetTransfers>("/api/transfers"),
        of::<GetAccountSummary>("/api/account_summary"),
    ]
}

fn of<T: Tool>(path: &'static str) -> Route {
    let handler = get(async |State(http): State<Http>, request: Request| call(T::NAME, &http, request).await);
    Route { reads_query: true, ..Route::new(Method::GET, path, Rule::USER, handler) }
}

/// Whether an argument is a list, by the schema of all arguments.
fn is_list(schema: &Value, name: &str) -> bool {
    schema["properties"][name]["type"] == "array"
}

async fn call(tool: &'static str, http: &Http, request: Request) -> Result<Response, Problem> {
    let target = Target::Tool(tool.to_owned());
    let found = http.face.tools.find(&incoming::user(request.extensions()), &target);
    let is_list =
        |name: &str| found.as_ref().is_some_and(|tool| is_list(&tool.definition.input_schema, name));
    let arguments = Query::any(request.uri()).into_object(is_list)?;
    let call = incoming::call(request.extensions(), target, Ok(arguments));
    let call_id = call.context.call_id.to_string();
    incoming::hand_over(request.extensions());
    match http.face.tools.finish(call).await? {
        Terminal::Result(result) => {
            let data = result.outcome?;
            let flat = json!({
                "source_id": result.provenance.source_ids.first(),
                "data": data.json(),
                "as_of": result.provenance.as_of,
            });
            let answer = json_answer::with_warnings(
                json_answer::json(StatusCode::OK, &flat),
                &result.provenance.warnings,
            );
            Ok(([("x-toolwire-call-id", call_id)], answer).into_response())
        }
        // An operator can make any tool need one.
        Terminal::ConfirmationRequired(required) => Err(confirmation_required(*required)),
    }
}
