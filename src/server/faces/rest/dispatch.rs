//! The table as routes: rows that differ only behind the last colon are one route, whose handler tells them apart.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    extract::{RawPathParams, Request, State, rejection::RawPathParamsRejection},
    routing::{MethodFilter, on},
};
use http::StatusCode;

use super::{rpc, transcode::has_precondition};
use crate::faces::http::{
    problem::Problem,
    route::{Handler, Http, Route},
    rpc_route::{RpcRoute, Verb},
};
use toolwire_transport::rules::Pool;

/// The rows as routes: those that differ only behind the colon are one.
pub fn routes(rows: &'static [RpcRoute]) -> Vec<Route> {
    let mut grouped: BTreeMap<(&'static str, Verb), Vec<&'static RpcRoute>> = BTreeMap::new();
    for row in rows {
        grouped.entry((row.split().0, row.method)).or_default().push(row);
    }
    let route = |((path, method), rows): ((&'static str, Verb), Vec<&'static RpcRoute>)| {
        // A route has one rule. A row that must never be shed decides it: a cancellation that is refused under load is
        // worse than a call too many.
        let rule = rows.iter().map(|row| row.rule()).max_by_key(|rule| rule.pool == Pool::Free);
        let rule = rule.expect("a group has a row");
        let checks_preconditions = rows.iter().any(|row| has_precondition(row));
        let route = Route::new(method.http(), path, rule, handler(method, rows.into()));
        Route { checks_preconditions, reads_query: true, ..route }
    };
    grouped.into_iter().map(route).collect()
}

fn handler(method: Verb, rows: Arc<[&'static RpcRoute]>) -> Handler {
    let filter = MethodFilter::try_from(method.http()).expect("a method that the router knows");
    let answer = move |State(http): State<Http>,
                       path: Result<RawPathParams, RawPathParamsRejection>,
                       request: Request| {
        let rows = Arc::clone(&rows);
        async move {
            let path = path.map_err(|_| {
                Problem::new(
                    "INVALID_REQUEST",
                    StatusCode::BAD_REQUEST,
                    "the path must be UTF-8 with percent-encoding",
                )
            })?;
            let mut path_fields: Vec<_> =
                path.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            let row = choose(&rows, &mut path_fields)?;
            rpc::answer(row, http, path_fields, request).await
        }
    };
    on(filter, answer)
}

/// Chooses the row by the verb behind the last colon of the path, and removes the verb from the path's last value.
fn choose(
    rows: &[&'static RpcRoute],
    path_fields: &mut [(String, String)],
) -> Result<&'static RpcRoute, Problem> {
    if let [row] = rows
        && row.split().1.is_none()
    {
        return Ok(row);
    }
    let last = path_fields.last_mut().map(|(_, value)| value);
    let unknown = || {
        let verbs: Vec<_> = rows.iter().filter_map(|row| row.split().1).collect();
        let what = format!("this path ends in one of :{}; /openapi.json says what for", verbs.join(", :"));
        Problem::new("UNKNOWN_ROUTE", StatusCode::NOT_FOUND, what)
    };
    let last = last.ok_or_else(unknown)?;
    let (value, verb) = last.rsplit_once(':').ok_or_else(unknown)?;
    let row = rows.iter().find(|row| row.split().1 == Some(verb)).ok_or_else(unknown)?;
    *last = value.to_owned();
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faces::{
        http::rpc_route::ResponseForm::{Document, Events, Tools, Upload},
        rest::{rpc_routes::ROWS, transcode},
    };
    use toolwire_contract::proto::POOL;

    #[test]
    fn every_row_names_an_rpc_and_fields_of_its_request() {
        for row in ROWS {
            let method = transcode::method_descriptor(row);
            let input = match row.form {
                Upload => "toolwire.workspace.v1.PutHeader".to_owned(),
                _ => method.input().full_name().to_owned(),
            };
            let message = POOL.get_message_by_name(&input).unwrap();
            for part in row.path.split('/').filter_map(|part| part.strip_prefix('{')) {
                let name = part.split('}').next().unwrap().trim_start_matches('*');
                assert!(message.get_field_by_name(name).is_some(), "{}: {input} has no {name}", row.path);
            }
            assert_eq!(
                method.is_server_streaming(),
                matches!(row.form, Events | Tools | Document),
                "{}",
                row.path
            );
        }
    }

    #[test]
    fn what_stands_behind_the_colon_chooses() {
        let rows: Vec<_> = ROWS
            .iter()
            .filter(|row| row.split().0 == "/v1/tasks/{task_id}" && row.method == Verb::Post)
            .collect();
        let mut path_fields = [("task_id".to_owned(), "task_1:end".to_owned())];
        assert_eq!(choose(&rows, &mut path_fields).unwrap().rpc.1, "EndTask");
        assert_eq!(path_fields[0].1, "task_1");
        let mut path_fields = [("task_id".to_owned(), "task_1:burn".to_owned())];
        assert_eq!(choose(&rows, &mut path_fields).unwrap_err().status(), StatusCode::NOT_FOUND);
    }
}
