//! Services within this process that answer for base addresses, so that a source can be asked without the network.
//!
//! Not here: what they answer, nor any bound on time: that is in `send`, for every sender.

use std::error::Error;

use axum::{
    Router,
    body::{Body, to_bytes},
};
use http::{Request, Response};
use http_body_util::LengthLimitError;
use tower::ServiceExt;
use url::{Origin, Url};

use super::{Failure, FailureKind, Outgoing};

/// The services, by the origin for which each answers.
#[derive(Clone, Debug, Default)]
pub(super) struct InProcess(Vec<(Origin, Router)>);

impl InProcess {
    /// The same, and one more.
    pub(super) fn with(mut self, base: &Url, service: Router) -> Self {
        self.0.push((base.origin(), service));
        self
    }

    /// What answers for an address; `None` where the network does.
    pub(super) fn find(&self, url: &Url) -> Option<Router> {
        let origin = url.origin();
        self.0.iter().find(|(base, _)| *base == origin).map(|(_, service)| service.clone())
    }
}

/// Asks a service; a body of more than `max_body` bytes is refused. The answer has the type of one from the network.
pub(super) async fn ask(
    service: Router,
    outgoing: Outgoing,
    max_body: usize,
) -> Result<reqwest::Response, Failure> {
    let Ok(response) = service.oneshot(request(outgoing)?).await;
    let (head, body) = response.into_parts();
    let body = to_bytes(body, max_body).await.map_err(|error| of_body(&error, max_body))?;
    Ok(Response::from_parts(head, body).into())
}

fn request(outgoing: Outgoing) -> Result<Request<Body>, Failure> {
    let Outgoing { method, url, headers, body, .. } = outgoing;
    let mut request = Request::new(Body::from(body));
    *request.method_mut() = method;
    *request.uri_mut() =
        url.as_str().parse().map_err(|_| Failure::malformed("an address that is not a valid URI"))?;
    *request.headers_mut() = headers;
    Ok(request)
}

fn of_body(error: &axum::Error, max_body: usize) -> Failure {
    if error.source().is_some_and(<dyn Error>::is::<LengthLimitError>) {
        return too_long(max_body);
    }
    Failure::new(FailureKind::Unreachable, error.to_string())
}

/// A body that is longer than its source may send.
pub(super) fn too_long(max_body: usize) -> Failure {
    Failure::malformed(format!("an answer of more than {max_body} bytes"))
}

#[cfg(test)]
mod tests {
    use std::{future::pending, time::Duration};

    use axum::routing::get;
    use http::{HeaderMap, HeaderName, StatusCode, header};
    use tokio::time::sleep;

    use super::{
        super::{
            Answer, ExpectedBody, Sender,
            send::Send,
            testing::{PROFILE, context, request},
        },
        *,
    };
    use toolwire_outgoing::Egress;
    use toolwire_tool::context::{StopCause, ToolContext};

    const MINUTE: Duration = Duration::from_mins(1);

    fn routes() -> Router {
        Router::new()
            .route(
                "/toy/greeting",
                get(|headers: HeaderMap| async move { headers[header::USER_AGENT].to_str().unwrap().to_owned() }),
            )
            .route("/toy/moved", get(|| async { (StatusCode::FOUND, [(header::LOCATION, "/toy/greeting")]) }))
            .route("/toy/missing", get(|| async { StatusCode::NOT_FOUND }))
            .route("/toy/long", get(|| async { vec![b'x'; PROFILE.max_body + 1] }))
            .route("/toy/wordy", get(|| async { [(HeaderName::from_static("x"), "x".repeat(70_000))] }))
            .route("/toy/endless", get(pending::<()>))
    }

    async fn ask(path: &str, context: &ToolContext) -> Result<Answer, Failure> {
        let base: Url = "http://toy.invalid/".parse().unwrap();
        let sender = Sender::new(&Egress::default()).unwrap().with_in_process(&base, routes());
        let sender = sender.with_user_agent("a test".parse().unwrap());
        let outgoing = Outgoing::get(base.join(path).unwrap(), ExpectedBody::Text);
        Send::new(sender, PROFILE).attempt(request(outgoing.accepting(StatusCode::FOUND), context)).await
    }

    async fn kind_of(path: &str) -> FailureKind {
        ask(path, &context(MINUTE)).await.unwrap_err().kind
    }

    #[tokio::test]
    async fn a_service_answers_as_a_server_would() {
        let call = context(MINUTE);
        assert_eq!(ask("toy/greeting?a=b", &call).await.unwrap().text(), "a test");
        let moved = ask("toy/moved", &call).await.unwrap();
        assert_eq!(moved.redirect().unwrap().as_str(), "http://toy.invalid/toy/greeting");
    }

    #[tokio::test]
    async fn the_bounds_and_the_rules_for_answers_hold_within_the_process_too() {
        assert_eq!(kind_of("toy/missing").await, FailureKind::NotFound);
        assert_eq!(kind_of("toy/long").await, FailureKind::Malformed);
        assert_eq!(kind_of("toy/wordy").await, FailureKind::Malformed);
    }

    #[tokio::test(start_paused = true)]
    async fn a_service_that_does_not_answer_is_cut_by_each_clock_and_by_a_cancel() {
        assert_eq!(kind_of("toy/endless").await, FailureKind::TimedOut);
        let short = context(Duration::from_secs(1));
        assert_eq!(ask("toy/endless", &short).await.unwrap_err().kind, FailureKind::OutOfTime);
        let call = context(MINUTE);
        let cancel = async {
            sleep(Duration::from_secs(1)).await;
            call.cancellation.cancel(StopCause::Cancelled);
        };
        let (end, ()) = tokio::join!(ask("toy/endless", &call), cancel);
        assert_eq!(end.unwrap_err().kind, FailureKind::Cancelled);
    }

    #[test]
    fn another_origin_is_for_the_network() {
        let base = "http://toy.invalid/".parse().unwrap();
        let services = InProcess::default().with(&base, routes());
        assert!(services.find(&"http://toy.invalid/any".parse().unwrap()).is_some());
        for other in ["https://toy.invalid/", "http://toy.invalid:8080/", "http://example.com/"] {
            assert!(services.find(&other.parse().unwrap()).is_none(), "{other}");
        }
    }
}
