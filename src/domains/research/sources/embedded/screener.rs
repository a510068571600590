//! Screener.in: a login with its form, and screens that require a session.

use std::sync::Arc;

use axum::{
    Form, Router,
    extract::{Path, State},
    response::Response,
    routing::get,
};
use http::{StatusCode, header};

use super::{data::Data, reply, request_parts::RequestParts};

const CSRF: &str = "embeddedcsrftoken0123456789abcdef";
const SESSION: &str = "embeddedsession0123456789abcdef";
/// The one password that is refused, so that a refusal can be seen.
const WRONG: &str = "wrong";
/// Rows a page: the number that the site takes without being asked, and the larger one.
const ROWS: [usize; 2] = [25, 50];

pub(super) fn routes() -> Router<Arc<Data>> {
    Router::new()
        .route("/screener/login/", get(form).post(login))
        .route("/screener/screens/{id}/{slug}/", get(screen))
}

async fn form(State(data): State<Arc<Data>>) -> Response {
    let page = page(&data, "login", StatusCode::OK);
    reply::with(
        page,
        header::SET_COOKIE,
        &format!("csrftoken={CSRF}; Max-Age=31449600; Path=/; SameSite=Lax"),
    )
}

/// The token must be in the cookie and in the form, and the form must come from the page.
async fn login(
    State(data): State<Arc<Data>>,
    asked: RequestParts,
    Form(fields): Form<Vec<(String, String)>>,
) -> Response {
    let field =
        |name: &str| fields.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value.as_str());
    let is_from_page = asked.cookie("csrftoken") == Some(CSRF)
        && field("csrfmiddlewaretoken") == CSRF
        && asked.header(header::REFERER).ends_with("/login/");
    if !is_from_page {
        let refusal =
            "<!DOCTYPE html><html><title>403 Forbidden</title><h1>CSRF verification failed.</h1></html>";
        return reply::page(StatusCode::FORBIDDEN, refusal);
    }
    if field("username").is_empty() || matches!(field("password"), "" | WRONG) {
        return page(&data, "login_refused", StatusCode::OK);
    }
    let response = reply::with(reply::page(StatusCode::FOUND, ""), header::LOCATION, "/dash/");
    let cookie = format!("sessionid={SESSION}; HttpOnly; Max-Age=1209600; Path=/; SameSite=Lax; Secure");
    reply::with(response, header::SET_COOKIE, &cookie)
}

/// A page of a screen. Whatever stands in the place of the slug leads to the screen of the number.
async fn screen(
    State(data): State<Arc<Data>>,
    Path((id, _slug)): Path<(String, String)>,
    asked: RequestParts,
) -> Response {
    if asked.cookie("sessionid") != Some(SESSION) {
        return page(&data, "anonymous", StatusCode::OK);
    }
    let rows = if asked.number("limit").unwrap_or(ROWS[0]) < ROWS[1] { ROWS[0] } else { ROWS[1] };
    let number = asked.number("page").unwrap_or(1).max(1);
    // Past the end the site shows the last page once more.
    let candidates = (1..=usize::min(number, 50)).rev();
    let mut pages =
        candidates.filter_map(|number| data.text(&format!("screener/screens/{id}/{rows}/{number}.html")));
    match pages.next() {
        Some(html) => reply::page(StatusCode::OK, html),
        None => reply::page(StatusCode::NOT_FOUND, "<!DOCTYPE html><html><title>Error 404</title></html>"),
    }
}

fn page(data: &Data, name: &str, status: StatusCode) -> Response {
    let html = data.text(&format!("screener/{name}.html")).unwrap_or_default();
    reply::page(status, html.replace("{csrf}", CSRF))
}
