//! Direct access to single tools: `GET /api/…`, answered by `{source_id, data, as_of}`; what the
//! result warns of is in headers.
//!
//! The parameters of a query are the tool's arguments; everything else is as in every other call.

use std::collections::BTreeMap;

use axum::{
    extract::{Query, Request, State},
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
        problem::Problem,
        route::{Http, Route},
    },
    incoming,
    rest::confirmation_required,
    spec_routes::answer,
    transport::rules::Rule,
};
use toolwire_tool::Tool;

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
    let handler =
        get(async |State(http): State<Http>, query: Query<BTreeMap<String, String>>, request: Request| {
            call(T::NAME, &http, query, request).await
        });
    Route::new(Method::GET, path, Rule::USER, handler)
}

async fn call(
    tool: &'static str,
    http: &Http,
    Query(query): Query<BTreeMap<String, String>>,
    request: Request,
) -> Result<Response, Problem> {
    let arguments = query.into_iter().map(|(key, text)| (key, Value::String(text))).collect();
    let call = incoming::call(request.extensions(), Target::Tool(tool.to_owned()), arguments);
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
            let answer =
                answer::with_warnings(answer::json(StatusCode::OK, &flat), &result.provenance.warnings);
            Ok(([("x-toolwire-call-id", call_id)], answer).into_response())
        }
        // An operator can make any tool need one.
        Terminal::ConfirmationRequired(required) => Err(confirmation_required(*required)),
    }
}
