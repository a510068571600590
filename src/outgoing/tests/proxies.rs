//! What goes through a proxy, what goes past it, and what is said of a proxy that does not do its part.

use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::{io::AsyncReadExt, net::TcpListener};
use tower::ServiceExt;

use super::servers::{Authority, Conduct, NAME, Proxy};
use crate::{Egress, Trust, causes_of};

/// `riley:s3cret`.
const CREDENTIALS: &str = "proxy-authorization: basic cmlszxk6cznjcmv0";

fn client(egress: &Egress, trust: Trust) -> reqwest::Client {
    egress.builder(trust).connect_timeout(Duration::from_secs(5)).build().unwrap()
}

#[tokio::test]
async fn a_tunnel_leads_to_a_server_whose_name_the_proxy_alone_knows() {
    let authority = Authority::new();
    let proxy = Proxy::start(Conduct::Tunnel(authority.serve(false).await)).await;
    let egress = proxy.egress().with_authorities(authority.authorities());
    let answer = client(&egress, Trust::System).get(format!("https://{NAME}/")).send().await.unwrap();
    assert_eq!(answer.text().await.unwrap(), "ok");
    let asked = proxy.asked().concat();
    assert!(asked.starts_with("CONNECT upstream.test:443 HTTP/1.1\r\n"), "{asked}");
    assert!(asked.to_lowercase().contains(CREDENTIALS), "{asked}");
}

#[tokio::test]
async fn a_plain_request_is_forwarded() {
    let proxy = Proxy::start(Conduct::Answer("200 OK")).await;
    let answer =
        client(&proxy.egress(), Trust::Nothing).get("http://upstream.test/a?b").send().await.unwrap();
    assert_eq!(answer.text().await.unwrap(), "ok");
    let asked = proxy.asked().concat();
    assert!(asked.starts_with("GET http://upstream.test/a?b HTTP/1.1\r\n"), "{asked}");
    assert!(asked.to_lowercase().contains(CREDENTIALS), "{asked}");
}

#[tokio::test]
async fn what_is_named_and_this_machine_are_asked_directly() {
    let (proxy, other) = (Proxy::start(Conduct::Close).await, Proxy::start(Conduct::Answer("200 OK")).await);
    let client = client(&proxy.egress(), Trust::Nothing);
    let here = client.get(format!("http://localhost:{}/", other.address.port())).send().await.unwrap();
    assert!(here.status().is_success());
    assert!(client.get("http://direct.test/").send().await.unwrap_err().is_connect());
    assert_eq!(proxy.asked(), [""; 0]);
    assert!(
        !other.asked().concat().to_lowercase().contains("proxy-"),
        "its credentials go to the proxy alone"
    );
}

#[tokio::test]
async fn what_a_proxy_did_not_do_is_said_without_its_credentials() {
    for (conduct, words) in [
        (Conduct::Answer("403 Forbidden"), "it does not let connections through to there"),
        (
            Conduct::Answer("407 Proxy Authentication Required"),
            "other credentials than those of network.proxy",
        ),
        (Conduct::Answer("garbage"), "it does not let connections through to there"),
        (Conduct::Close, "it closed the connection"),
    ] {
        let proxy = Proxy::start(conduct).await;
        let client = client(&proxy.egress(), Trust::System);
        let error = client.get("https://upstream.test/").send().await.unwrap_err();
        let said = causes_of(&error);
        assert!(
            error.is_connect() && said.contains("the proxy opened no tunnel: ") && said.contains(words),
            "{said}"
        );
        assert!(!format!("{said} {error} {error:?} {client:?} {:?}", proxy.egress()).contains("s3cret"));
    }
}

#[tokio::test]
async fn a_proxy_that_is_away_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let egress = Egress::default().with_proxy(address.parse().unwrap(), &[]);
    let error = client(&egress, Trust::System).get("https://upstream.test/").send().await.unwrap_err();
    assert!(
        causes_of(&error).contains("the proxy opened no tunnel: it cannot be reached"),
        "{}",
        causes_of(&error)
    );
}

#[tokio::test(start_paused = true)]
async fn a_proxy_that_hangs_has_the_time_of_a_connection() {
    let proxy = Proxy::start(Conduct::Hang).await;
    let error =
        client(&proxy.egress(), Trust::System).get("https://upstream.test/").send().await.unwrap_err();
    assert!(error.is_timeout(), "{error:?}");
}

#[tokio::test]
async fn a_grpc_connection_is_a_tunnel_whether_it_is_encrypted_or_not() {
    let (server, far) = (TcpListener::bind("127.0.0.1:0").await.unwrap(), "http://upstream.test/");
    let proxy = Proxy::start(Conduct::Tunnel(server.local_addr().unwrap())).await;
    for (address, target) in [
        (far, "upstream.test:80"),
        ("http://upstream.test:4317/", "upstream.test:4317"),
        ("https://upstream.test/", "upstream.test:443"),
    ] {
        let connected = proxy.egress().connector().oneshot(address.parse().unwrap()).await.unwrap();
        let (mut accepted, _) = server.accept().await.unwrap();
        drop::<TokioIo<_>>(connected);
        assert_eq!(accepted.read(&mut [0; 1]).await.unwrap(), 0, "the end comes through");
        let asked = proxy.asked().pop().unwrap();
        assert!(asked.starts_with(&format!("CONNECT {target} HTTP/1.1\r\n")), "{asked}");
        assert!(asked.to_lowercase().contains(CREDENTIALS), "{asked}");
    }
    let here = format!("http://{}/", server.local_addr().unwrap());
    proxy.egress().connector().oneshot(here.parse().unwrap()).await.unwrap();
    assert_eq!(proxy.asked().len(), 3, "this machine is asked directly");
    let closed = Proxy::start(Conduct::Close).await;
    let error = closed.egress().connector().oneshot(far.parse().unwrap()).await.unwrap_err();
    assert_eq!(error.to_string(), "the proxy opened no tunnel: it closed the connection");
}
