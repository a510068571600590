//! Checks a request by its headers, before any of its body is read: its host, the origin of the page, its route, and
//! the type of its body. Not here: its user, whom the layers below authenticate.

use std::{
    convert::Infallible,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use axum::response::IntoResponse;
use http::{
    HeaderMap, HeaderValue, Method, Request, StatusCode,
    header::{ALLOW, VARY, X_CONTENT_TYPE_OPTIONS},
    request::Parts,
};
use http_body::Body as _;
use pin_project_lite::pin_project;
use tonic::body::Body;

use super::{
    answer::Answer,
    boundary::{Boundary, Foreign},
    cors, expect,
    host::BadHost,
    media_type,
    origin::{Page, is_navigation},
    path,
    problem::Problem,
    protected_resource::{Challenge, ProtectedResource},
    query::Query,
    table::{Missing, RouteMatch},
    toolset,
};
use crate::service::request::refuse;
use toolwire_base::middleware::Middleware;
use toolwire_contract::status::wrong_port;
use toolwire_transport::{
    is_grpc,
    peer::Peer,
    rules::{Access, RoutePath},
};

/// Passes requests that name this server and one of its routes.
#[derive(Clone, Debug)]
pub(super) struct HeaderChecks(Arc<Rules>);

#[derive(Debug)]
struct Rules {
    boundary: Boundary,
    /// The address of the gRPC listener.
    grpc_at: Option<SocketAddr>,
    /// The resource for which a refused client may sign in.
    resource: Option<Arc<ProtectedResource>>,
}

impl HeaderChecks {
    pub(super) fn new(
        boundary: Boundary,
        grpc_at: Option<SocketAddr>,
        resource: Option<Arc<ProtectedResource>>,
    ) -> Self {
        Self(Arc::new(Rules { boundary, grpc_at, resource }))
    }
}

impl<S> Middleware<Request<Body>, S> for HeaderChecks
where
    S: tower::Service<Request<Body>, Response = Answer, Error = Infallible>,
{
    type Future = ResponseFuture<S::Future>;

    fn call(&self, request: Request<Body>, inner: &mut S) -> Self::Future {
        let (mut parts, body) = request.into_parts();
        // First: a gRPC client can read nothing but a status, whatever else is wrong.
        if is_grpc(&parts.headers) {
            let answer = wrong_port::is_http(self.0.grpc_at).into_http();
            return ResponseFuture::ready(answer, Page::None);
        }
        // Host and origin before everything else: a foreign page must not learn which routes there are.
        let is_encrypted = parts.extensions.get::<Peer>().is_some_and(|peer| peer.is_encrypted);
        let page = match self.0.boundary.page(&parts.uri, &parts.headers, is_encrypted) {
            Ok(page) => page,
            // A link to what is public, such as to the console in a message about an approval: the answer is the same
            // for every reader, and needs none of the credentials that the browser sends by itself.
            Err(Foreign::Origin) if is_navigation(&parts) && is_public(&parts) => Page::None,
            Err(foreign) => {
                return ResponseFuture::ready(refuse_foreign(foreign).into_response(), Page::None);
            }
        };
        if !expect::can_be_met(&parts.headers) {
            return ResponseFuture::ready(unmet_expectation().into_response(), page);
        }
        if cors::is_preflight(&parts.method, &parts.headers) {
            return ResponseFuture::ready(cors::preflight(&parts.headers), page);
        }
        let found = parts.extensions.remove().expect("the layer above finds the route of every request");
        match check_route(found, &mut parts, body.is_end_stream()) {
            Ok(found) => {
                parts.extensions.insert(found);
                parts.extensions.insert(found.rule);
                parts.extensions.insert(RoutePath(found.template));
                let challenge = self.0.resource.as_ref().map(|it| Challenge::of(it, &parts));
                let future = inner.call(Request::from_parts(parts, body));
                ResponseFuture::Passed { page, challenge, future }
            }
            Err(refused) => ResponseFuture::ready(refused.into_response(), page),
        }
    }
}

/// Returns the route of a request, if it exists and accepts such a body. The toolset of the request then stands in its
/// header.
fn check_route(
    found: Result<RouteMatch, Missing>,
    parts: &mut Parts,
    is_empty: bool,
) -> Result<RouteMatch, Problem> {
    for (part, text) in [("path", parts.uri.path()), ("query", parts.uri.query().unwrap_or_default())] {
        if !path::is_well_encoded(text) {
            return Err(badly_encoded(part));
        }
    }
    let mut found = found.map_err(missing)?;
    toolset::to_header(parts, &found)?;
    if !found.reads_query {
        Query::read(&parts.uri, &[])?;
    }
    if let Some(by_header) = found.by_header.filter(|it| it.matches(&parts.headers)) {
        found.rule = by_header.rule;
    }
    if !matches!(parts.method, Method::GET | Method::HEAD) {
        media_type::check(&parts.headers, found.rule.messages, is_empty)?;
    }
    Ok(found)
}

/// Whether the route of a request needs no user.
fn is_public(parts: &Parts) -> bool {
    let found = parts.extensions.get::<Result<RouteMatch, Missing>>();
    matches!(found, Some(Ok(found)) if found.rule.access == Access::Public)
}

fn refuse_foreign(foreign: Foreign) -> Problem {
    match foreign {
        Foreign::Origin => foreign_origin(),
        Foreign::Host(BadHost::Malformed) => Problem::new(
            "INVALID_HOST",
            StatusCode::BAD_REQUEST,
            "a request names one host, in `Host` or in `:authority`, and its port by a number",
        ),
        Foreign::Host(BadHost::Foreign) => Problem::new(
            "FOREIGN_HOST",
            StatusCode::FORBIDDEN,
            "this server does not answer by that name: without credentials it answers as localhost, and with them by \
             the names that its operator lists in http.allowed_hosts and http.public_url",
        ),
    }
}

fn foreign_origin() -> Problem {
    Problem::new(
        "FOREIGN_ORIGIN",
        StatusCode::FORBIDDEN,
        "pages of another origin may not call this server unless its operator lists it in http.allowed_origins; where \
         client certificates or trusted proxies count, such a page calls by fetch or EventSource with CORS, and images, \
         frames and links of it are refused, but for links to what needs no user",
    )
}

fn unmet_expectation() -> Problem {
    Problem::new(
        "EXPECTATION_FAILED",
        StatusCode::EXPECTATION_FAILED,
        "the only expectation that is met is `expect: 100-continue`",
    )
}

fn badly_encoded(part: &str) -> Problem {
    let what = "must be UTF-8 in percent-encoding: `%` and two hexadecimal digits, and `%25` for a percent sign itself";
    refuse(part, "format", what).into()
}

pub(in crate::faces) fn unknown_route() -> Problem {
    let what = "there is nothing at this path; /openapi.json says what there is";
    Problem::new("UNKNOWN_ROUTE", StatusCode::NOT_FOUND, what)
}

fn missing(missing: Missing) -> Problem {
    match missing {
        Missing::Path => unknown_route(),
        Missing::Method(allowed) => {
            let what = format!("this path takes {allowed}; /openapi.json says what for");
            let allowed = HeaderValue::from_str(&allowed).expect("names of methods are tokens");
            Problem::new("METHOD_NOT_ALLOWED", StatusCode::METHOD_NOT_ALLOWED, what)
                .with_header(ALLOW, allowed)
        }
    }
}

pin_project! {
    /// A refusal or the response of the inner service, with headers for browsers.
    #[project = Projection]
    pub(super) enum ResponseFuture<F> {
        Decided { answer: Option<Answer>, page: Page },
        Passed { #[pin] future: F, page: Page, challenge: Option<Challenge> },
    }
}

impl<F> ResponseFuture<F> {
    fn ready(answer: Answer, page: Page) -> Self {
        Self::Decided { answer: Some(answer), page }
    }
}

impl<F: Future<Output = Result<Answer, Infallible>>> Future for ResponseFuture<F> {
    type Output = Result<Answer, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let (mut answer, page) = match self.project() {
            Projection::Decided { answer, page } => {
                (answer.take().expect("a future is not polled after it is ready"), page)
            }
            Projection::Passed { future, page, challenge } => {
                let Ok(mut answer) = ready!(future.poll(cx));
                if let Some(challenge) = challenge {
                    let status = answer.status();
                    challenge.add_to(status, answer.headers_mut());
                }
                (answer, page)
            }
        };
        add_browser_headers(answer.headers_mut(), std::mem::replace(page, Page::None));
        Poll::Ready(Ok(answer))
    }
}

/// Adds the headers for browsers, which every response has.
fn add_browser_headers(headers: &mut HeaderMap, page: Page) {
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    match page {
        Page::Allowed(origin) => cors::allow(headers, origin),
        // A cache must not serve this response to a page.
        Page::None | Page::Foreign => {
            headers.append(VARY, HeaderValue::from_static("origin"));
        }
    }
}
