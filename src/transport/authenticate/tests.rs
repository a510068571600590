//! The layer and its two authenticators.

use std::{
    convert::Infallible,
    future::{Ready, ready},
    sync::Mutex,
};

use secrecy::SecretString;
use tonic::{Code, Status, body::Body};
use tonic_types::StatusExt;
use tower::{Layer as _, ServiceExt, service_fn};

use super::*;
use toolwire_base::middleware::Layer;
use toolwire_config::TokenDigest;
use toolwire_identity::Refusal;
use toolwire_providers::ids::ProviderName;

const LOCAL: &str = "127.0.0.1:4000";

#[tokio::test]
async fn the_user_is_in_the_extensions_of_what_goes_on() {
    assert_eq!(identify(loopback(), LOCAL, &[]).await, Ok("dev".to_owned()));
    assert_eq!(identify(loopback(), "[::ffff:127.0.0.1]:1", &[]).await, Ok("dev".to_owned()));
    assert_eq!(
        identify(loopback(), "[::1]:1", &[("x-toolwire-user", "alice")]).await,
        Ok("alice".to_owned())
    );
}

#[tokio::test]
async fn loopback_refuses_peers_from_elsewhere() {
    let refused = identify(loopback(), "192.0.2.7:4000", &[("x-toolwire-user", "alice")]).await;
    assert_eq!(refused, Err((Code::Unauthenticated, "CREDENTIALS_REJECTED".to_owned())));
}

/// Knows its user after a wait.
struct Waiting(StaticTokens);

impl Authenticator for Waiting {
    fn authenticate<'a>(&'a self, credentials: Credentials<'a>) -> Authenticating<'a> {
        Either::Right(Box::pin(async move {
            tokio::task::yield_now().await;
            self.0.authenticate(credentials).await
        }))
    }
}

#[tokio::test]
async fn an_authenticator_may_wait() {
    let headers = [("authorization", "Bearer s3cret-b")];
    assert_eq!(identify(Waiting(tokens()), LOCAL, &headers).await, Ok("bob".to_owned()));
    let refused = identify(Waiting(tokens()), LOCAL, &[]).await;
    assert_eq!(refused, Err((Code::Unauthenticated, "CREDENTIALS_MISSING".to_owned())));
}

#[test]
fn tokens_never_show() {
    let shown = format!("{:?}", tokens());
    assert_eq!(shown, "StaticTokens { tokens: 2, .. }");
}

fn loopback() -> Loopback {
    Loopback::new(user("dev"))
}

fn tokens() -> StaticTokens {
    StaticTokens::new([
        (TokenDigest::of(b"s3cret-a"), user("alice")),
        (TokenDigest::of(b"s3cret-b"), user("bob")),
    ])
}

fn authenticate(users: impl Authenticator + 'static) -> Layer<Authenticate> {
    let toolsets = Current::default();
    let (users, hosts, lines) = (Arc::new(users), Arc::new(hosts()), Arc::default());
    Layer(Authenticate { users, hosts, refusals: Arc::new(()), toolsets, lines })
}

fn hosts() -> HostTokens {
    HostTokens::new([(SecretString::from("h0st-shop"), "shop".into())])
}

/// The provider whose host makes a request of the method for hosts, or the code and reason of the refusal.
fn identify_host(
    hosts: HostTokens,
    peer: &str,
    headers: &[(&'static str, &str)],
) -> Result<String, (Code, String)> {
    let mut request = request(peer, headers);
    request.extensions_mut().insert(Rule::SLOT);
    let layer = Layer(Authenticate {
        users: Arc::new(tokens()),
        hosts: Arc::new(hosts),
        refusals: Arc::new(()),
        toolsets: Current::default(),
        lines: Arc::default(),
    });
    let (mut parts, ()) = request.into_parts();
    let identified = layer.0.identify_at_once(&mut parts).expect("it takes no wait");
    let provider = identified.map(|()| parts.extensions.get::<ProviderName>().map(ToString::to_string));
    provider.map(|it| it.expect("a provider")).map_err(|error| {
        let status = Status::from(error);
        (status.code(), status.get_details_error_info().expect("a reason").reason)
    })
}

#[tokio::test]
async fn a_host_is_known_by_a_token_of_its_own_and_a_users_token_opens_nothing_for_it() {
    let of = |headers: &[(&'static str, &str)]| identify_host(hosts(), "10.0.0.7:1", headers);
    assert_eq!(of(&[("authorization", "Bearer h0st-shop")]), Ok("shop".to_owned()));
    let rejected = Err((Code::Unauthenticated, "CREDENTIALS_REJECTED".to_owned()));
    for wrong in ["Bearer s3cret-a", "Bearer h0st-sho", "Bearer ", "h0st-shop"] {
        assert_eq!(of(&[("authorization", wrong)]), rejected, "{wrong}");
    }
    assert_eq!(of(&[]), Err((Code::Unauthenticated, "CREDENTIALS_MISSING".to_owned())));
    let as_user = identify(tokens(), LOCAL, &[("authorization", "Bearer h0st-shop")]).await;
    assert_eq!(as_user, Err((Code::Unauthenticated, "CREDENTIALS_REJECTED".to_owned())));
}

#[test]
fn without_users_a_process_of_this_machine_is_a_host_of_the_local_provider() {
    let local = || HostTokens::default().with_local("local".into());
    assert_eq!(identify_host(local(), LOCAL, &[]), Ok("local".to_owned()));
    for (peer, headers) in [("10.0.0.7:1", &[][..]), (LOCAL, &[("forwarded", "for=10.0.0.7")][..])] {
        let refused = identify_host(local(), peer, headers);
        assert_eq!(refused.expect_err("refused").0, Code::Unauthenticated, "{peer}");
    }
}

/// What is noted of refusals: the reason, and the user if one is known.
#[derive(Default)]
struct Noted(Mutex<Vec<(&'static str, Option<String>)>>);

impl RefusalLog for Noted {
    fn note(&self, refused: &RefusedRequest<'_>) {
        let user = refused.user.map(|user| user.id.to_string());
        self.0.lock().unwrap().push((refused.reason, user));
    }
}

#[tokio::test]
async fn a_refusal_of_what_else_a_request_says_is_its_users() {
    let noted = Arc::new(Noted::default());
    let (known, toolset) = (("authorization", "Bearer s3cret-b"), ("x-toolwire-toolset", "gone"));
    let at_once = Arc::new(tokens()) as Arc<dyn Authenticator>;
    let waiting = Arc::new(Waiting(tokens())) as Arc<dyn Authenticator>;
    for users in [at_once, waiting] {
        for headers in [&[known, toolset][..], &[known, toolset, toolset], &[toolset]] {
            let (hosts, refusals) = (Arc::new(hosts()), Arc::clone(&noted) as Arc<dyn RefusalLog>);
            let users = Arc::clone(&users);
            let (toolsets, lines) = (Current::default(), Arc::default());
            let layer = Layer(Authenticate { users, hosts, refusals, toolsets, lines });
            let inner = service_fn(async |_: Request<()>| Ok::<_, Infallible>(Response::<Body>::default()));
            let _ = layer.layer(inner).oneshot(request(LOCAL, headers)).await;
        }
    }
    let bob = || Some("bob".to_owned());
    let expected = [("unknown_toolset", bob()), ("several_toolsets", bob()), ("missing", None)];
    assert_eq!(*noted.0.lock().unwrap(), [expected.clone(), expected].concat());
}

/// What the layers see of a workload beside the tokens, by a certificate or by a proxy at 10.0.0.7.
fn workloads() -> Workloads {
    let users = [("spiffe://example.org/*/agent".parse().unwrap(), user("agent"))];
    let proxies = TrustedProxies::new(&["10.0.0.7".parse().unwrap()]);
    Workloads::new(users, proxies, Arc::new(Waiting(tokens())))
}

#[tokio::test]
async fn a_workload_is_its_entrys_user_and_is_recorded_beside_that_of_a_token() {
    const ID: &str = "spiffe://example.org/shop/agent";
    let forwarded = format!("Hash={};URI={ID}", "a".repeat(64));
    let certified: Workload = Ok(ID.parse().unwrap());
    let metadata = |pairs: &[(&'static str, &str)]| {
        pairs
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect::<HeaderMap>()
    };
    for (peer, certified, headers, expected) in [
        ("192.0.2.1:1", Some(&certified), metadata(&[]), Ok(("agent", Some(ID)))),
        (
            "192.0.2.1:1",
            Some(&certified),
            metadata(&[("authorization", "Bearer s3cret-b")]),
            Ok(("bob", Some(ID))),
        ),
        (
            "192.0.2.1:1",
            Some(&certified),
            metadata(&[("authorization", "Bearer no")]),
            Err("CREDENTIALS_REJECTED"),
        ),
        ("192.0.2.1:1", Some(&certified), metadata(&[("authorization", "")]), Err("CREDENTIALS_REJECTED")),
        (
            "192.0.2.1:1",
            None,
            metadata(&[("x-forwarded-client-cert", &forwarded)]),
            Err("CREDENTIALS_MISSING"),
        ),
        ("10.0.0.7:1", None, metadata(&[("x-forwarded-client-cert", &forwarded)]), Ok(("agent", Some(ID)))),
        // A proxy speaks for its clients: its own certificate is no user's.
        ("10.0.0.7:1", Some(&certified), metadata(&[]), Err("CREDENTIALS_MISSING")),
        (
            "10.0.0.7:1",
            Some(&certified),
            metadata(&[("authorization", "Bearer s3cret-b")]),
            Ok(("bob", None)),
        ),
    ] {
        let (authorization, peer) = (headers.get(AUTHORIZATION), Some(peer.parse().unwrap()));
        let credentials = Credentials { metadata: &headers, authorization, peer, certified, recent: None };
        let identified = workloads().authenticate(credentials).await;
        let seen = identified.as_ref().map(|user| (user.id.as_str(), user.workload.as_deref()));
        let reason = |error: &AuthenticationError| {
            Status::from(error.clone()).get_details_error_info().expect("a reason").reason
        };
        assert_eq!(seen.map_err(reason), expected.map_err(str::to_owned), "{peer:?} {headers:?}");
    }
}

/// Of the certificate of a workload of the other kind, and of none, the setting that names it is in the log.
#[tokio::test]
async fn a_workload_of_the_other_kind_is_refused_by_name() {
    let pattern = "spiffe://example.org/*/shop".parse().unwrap();
    let hosts = HostTokens::default().with_workloads([(pattern, "shop".into())], TrustedProxies::default());
    let (users, others) = (workloads(), [("spiffe://example.org/*/none".parse().unwrap(), ())]);
    for (id, is_for_hosts, expected) in [
        ("spiffe://example.org/a/shop", false, ("of_host", Some("spiffe of [providers.shop]"))),
        ("spiffe://example.org/a/agent", true, ("of_no_host", Some("the id of agent in [[auth.spiffe]]"))),
        ("spiffe://example.org/a/other", false, ("unknown_workload", None)),
        ("spiffe://example.org/a/other", true, ("unknown_workload", None)),
        ("spiffe://example.com/a/shop", false, ("foreign_trust_domain", None)),
    ] {
        let certified: Workload = Ok(id.parse().unwrap());
        let by_certificate = workloads::find(&others, &certified);
        let refused = hosts.specify(by_certificate.unwrap_err(), &users, is_for_hosts);
        assert_eq!(refused.reason(), expected.0, "{id}");
        let AuthenticationError::Certificate { workload, detail, .. } = refused else {
            panic!("{refused:?}")
        };
        assert_eq!(workload.as_deref(), Some(id));
        assert_eq!(detail.is_some(), expected.1.is_some());
        assert!(expected.1.is_none_or(|words| detail.unwrap().contains(words)), "{id}");

        let svid = Refusal::UnknownWorkload { workload: id.into() };
        let refused = hosts.specify(AuthenticationError::Refused(svid), &users, is_for_hosts);
        let AuthenticationError::Refused(refusal) = refused else { panic!("{refused:?}") };
        let (word, detail) = (refusal.word(), refusal.detail().expect("a detail"));
        assert_eq!(word, if expected.1.is_some() { expected.0 } else { "unknown_workload" }, "{id}");
        let words = expected.1.unwrap_or("no id of [[auth.spiffe]] or spiffe of [providers] matches");
        assert!(detail.contains(words) && refusal.workload() == Some(id), "{detail}");
    }
}

fn user(id: &str) -> User {
    User::new(id.parse().unwrap())
}

/// The id of the user that reached the service, or the code and reason of the refusal.
async fn identify(
    authenticator: impl Authenticator + 'static,
    peer: &str,
    headers: &[(&'static str, &str)],
) -> Result<String, (Code, String)> {
    let exceeded = Arc::new(Mutex::new(None));
    let seen = exceeded.clone();
    let service = authenticate(authenticator).layer(service_fn(move |request: Request<()>| {
        *seen.lock().unwrap() = request.extensions().get::<User>().map(|user| user.id.to_string());
        answer()
    }));
    let response = service.oneshot(request(peer, headers)).await.unwrap();
    if let Some(user) = exceeded.lock().unwrap().take() {
        return Ok(user);
    }
    let status = Status::from_header_map(response.headers()).unwrap();
    Err((status.code(), status.get_details_error_info().unwrap().reason))
}

fn request(peer: &str, headers: &[(&'static str, &str)]) -> Request<()> {
    let mut request = Request::new(());
    request.extensions_mut().insert(Peer::stranger(peer.parse().unwrap()));
    for (name, value) in headers {
        request.headers_mut().append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    request
}

fn answer() -> Ready<Result<Response<Body>, Infallible>> {
    ready(Ok(Response::new(Body::empty())))
}
