//! The stack of layers, under paused time.

use std::{future::ready, sync::Arc};

use http::StatusCode;
use http_body_util::BodyExt;
use tokio::time::advance;
use tower::service_fn;

use super::{rules::Rule, *};
use toolwire_tool::context::User;

const CAP: Duration = Duration::from_secs(10);

/// The response of `routes` to one request at its deadline, through all common layers.
async fn answered<F>(routes: impl Fn() -> F + Clone + Send + 'static) -> Response<Bytes>
where
    F: Future<Output = Result<Response<Body>, Infallible>> + Send + 'static,
{
    let user = User::new("somebody".parse().unwrap());
    let config = Config { server_cap: CAP, ..Config::default() };
    let common = Common::of(Arc::new(authenticate::Loopback::new(user)), config);
    let mut stack = http_stack(service_fn(move |_: Request<Body>| routes()), |_| Ok(None), &common);
    let mut request = Request::new(Body::empty());
    request.extensions_mut().insert(Rule { access: rules::Access::Public, ..Rule::USER });
    let response = stack.call(request).await.unwrap();
    advance(CAP).await;
    let (parts, body) = response.into_parts();
    let body = body.collect().await.unwrap();
    assert!(body.trailers().is_none(), "broken off");
    Response::from_parts(parts, body.to_bytes())
}

#[tokio::test(start_paused = true)]
async fn a_complete_answer_leaves_whole_however_near_its_deadline() {
    let in_time = || ready(Ok(Response::new(Body::new("data".to_owned()))));
    assert_eq!(answered(in_time).await.body(), "data");
    // A handler that reports the deadline itself and was polled before the layer's timer.
    let late = || async {
        advance(CAP).await;
        let mut response = Response::new(Body::new("late".to_owned()));
        *response.status_mut() = StatusCode::GATEWAY_TIMEOUT;
        Ok(response)
    };
    assert_eq!(answered(late).await.body(), "late");
}
