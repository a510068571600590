//! The route at which more is offered than tools.

use axum::{
    body::Body,
    extract::{Request, State},
    response::Response,
    routing::post,
};

use crate::everything::Everything;
use toolwire::{
    mcp::server::http::answer_by,
    server::faces::{
        http::{
            problem::Problem,
            route::{Http, Route},
        },
        mcp,
    },
};

pub(crate) fn routes() -> Vec<Route> {
    let at = |route| Route { path: "/conformance", handler: post(answer), ..route };
    // Those of toolsets stay where they are.
    mcp::routes().into_iter().filter(|route| route.path == "/mcp").map(at).collect()
}

async fn answer(State(http): State<Http>, request: Request) -> Result<Response, Problem> {
    let (handler, parts, body) = mcp::receive(&http, request).await?;
    Ok(answer_by(Everything(handler), parts, body).await.map(Body::new))
}
