//! Hosts that present tokens of an issuer or of a trust domain: which provider they are, and how their tokens end.

use serde_json::{Value, json};
use tonic::{Code, Request, Status};
use toolwire::{
    config::{Auth, Config, Flags, testing},
    contract::proto::{
        host::v1::work_response::Message,
        v1::{
            CallToolRequest, ListToolsRequest, ResultFormat, call_tool_request, call_tool_response,
            tool_result, tool_service_client::ToolServiceClient,
        },
    },
};

use super::host::{Host, offer};
use crate::{
    http::{
        issuers::Issuer,
        svids::{TrustDomain, now},
    },
    support::server::{Server, config},
};

const RILEY: &str = "riley-0123456789abcdef";
/// A tool of the shop.
const ORDER: &str = "order_status";
const BANK: &str = "spiffe://example.org/ns/a/sa/bank";

/// An issuer and a trust domain, and a server whose providers have hosts with tokens of either.
struct World {
    issuer: Issuer,
    domain: TrustDomain,
    auth: Auth,
    server: Server,
}

impl World {
    async fn start() -> Self {
        let (issuer, domain) = (Issuer::start().await, TrustDomain::new());
        let file = format!(
            "[[auth.issuers]]\nname = 'corp'\nissuer = '{}'\naudience = ['toolwire']\n{}\
             [[auth.users]]\nuser_id = 'riley'\ntoken = '{RILEY}'\n\
             [[auth.rules]]\nwho = ['user:corp:shop-host', 'user:corp:8f2c']\ntools = ['*']\n\
             [providers.shop]\nkind = 'host'\nissuer = 'corp'\nclaim = {{ sub = 'shop-host' }}\n\
             [providers.bank]\nkind = 'host'\nspiffe = 'spiffe://example.org/ns/*/sa/bank'\n",
            issuer.server.uri(),
            domain.entry()
        );
        let loaded = testing::load_text(&file, &[], Flags::default(), &[]).unwrap().config;
        let Config { auth, providers, .. } = loaded;
        let mut own = config();
        (own.auth, own.providers) = (auth.clone(), providers);
        let server = Server::with(own);
        Self { issuer, domain, auth, server }
    }

    /// A token of the issuer.
    fn issued(&self, sub: &str, change: &[(&str, Value)]) -> String {
        self.issuer.token(sub, &[], change).trim_start_matches("authorization: Bearer ").to_owned()
    }

    /// The host that joins with a token and a tool of its own, and the provider that it is.
    async fn join(&self, token: &str, tool: &str) -> Result<(Host, String), Status> {
        let mut host = Host::dial(&self.server, Some(token)).await?;
        let welcome = host.greet(vec![offer(tool)]).await?;
        Ok((host, welcome.provider))
    }

    async fn list(&self, token: &str) -> Result<(), Status> {
        let mut tools = ToolServiceClient::new(self.server.channel().await);
        tools.list_tools(with(ListToolsRequest::default(), token)).await.map(drop)
    }
}

fn with<T>(message: T, token: &str) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    request
}

/// Waits until the host is asked to leave, and returns the reason.
async fn leave(host: &mut Host) -> String {
    loop {
        match host.next().await.unwrap() {
            Some(Message::Leave(leave)) => return leave.reason,
            Some(Message::Ping(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_host_is_the_provider_of_its_token_and_calls_nothing() {
    let world = World::start().await;
    let (shop, bank) = (world.issued("shop-host", &[]), world.domain.token(BANK, &[]));
    for (token, name, tool) in [(&shop, "shop", ORDER), (&bank, "bank", "bank_status")] {
        assert_eq!(world.join(token, tool).await.map(|it| it.1).unwrap(), name);
    }
    for (token, words) in [
        (world.issued("8f2c", &[]), "the token is of no host"),
        (world.issued("Shop-host", &[]), "the token is of no host"),
        (world.issued("shop-host", &[("exp", json!(1))]), "the token has expired"),
        (world.issued("shop-host", &[("aud", json!("else"))]), "for another audience"),
        (
            world.domain.token("spiffe://example.org/ns/a/sa/shop", &[]),
            "of a workload that this server does not know",
        ),
        (TrustDomain::new().token(BANK, &[]), "the token's signature is wrong"),
        (RILEY.to_owned(), "the credentials are not accepted"),
        ("a.b.c".to_owned(), "no signed JSON Web Token"),
    ] {
        let status = world.join(&token, ORDER).await.map(|it| it.1).unwrap_err();
        assert_eq!(status.code(), Code::Unauthenticated, "{status:?}");
        assert!(status.message().contains(words), "{words}: {status:?}");
    }
    // Not even by a rule that names the user whom the token would be.
    for (token, words) in [
        (&shop, "of a host of a provider, which calls nothing"),
        (&bank, "of a host of a provider, which calls nothing"),
    ] {
        let status = world.list(token).await.unwrap_err();
        assert_eq!(status.code(), Code::Unauthenticated, "{status:?}");
        assert!(status.message().contains(words), "{words}: {status:?}");
    }
    world.list(&world.issued("8f2c", &[])).await.unwrap();
}

#[tokio::test]
async fn a_host_leaves_when_its_token_ends_and_joins_again_with_another() {
    let world = World::start().await;
    for (name, tool) in [("shop", ORDER), ("bank", "bank_status")] {
        // Its leeway ends in a second or two.
        let end = [("exp", json!(now() - 28))];
        let token =
            if name == "shop" { world.issued("shop-host", &end) } else { world.domain.token(BANK, &end) };
        let (mut host, _) = world.join(&token, tool).await.unwrap();
        let reason = leave(&mut host).await;
        assert!(reason.contains("its token has expired"), "{reason}");
        host.half_close();
        assert!(host.next().await.unwrap().is_none(), "{name} left in order");
        let status = world.join(&token, tool).await.map(|it| it.1).unwrap_err();
        assert!(status.message().contains("the token has expired"), "{status:?}");
    }
    let (_, name) = world.join(&world.issued("shop-host", &[]), ORDER).await.unwrap();
    assert_eq!(name, "shop");
}

#[tokio::test]
async fn a_call_that_a_host_carries_out_is_over_before_it_leaves() {
    let world = World::start().await;
    let (mut host, _) =
        world.join(&world.issued("shop-host", &[("exp", json!(now() - 28))]), ORDER).await.unwrap();
    let mut tools = ToolServiceClient::new(world.server.channel().await);
    let call = tokio::spawn(async move {
        let call = CallToolRequest {
            target: Some(call_tool_request::Target::Tool("order_status".to_owned())),
            input: Some(call_tool_request::Input::ArgumentsJson(json!({"order_id": "A-1"}).to_string())),
            result_format: ResultFormat::Json.into(),
            ..CallToolRequest::default()
        };
        tools.call_tool(with(call, RILEY)).await.unwrap().into_inner().outcome.unwrap()
    });
    let start = host.start().await;
    let _ = leave(&mut host).await;
    host.outcome(&start, &json!({"state": "sent"})).await;
    let call_tool_response::Outcome::Result(result) = call.await.unwrap() else { panic!("a result") };
    let Some(tool_result::Outcome::DataJson(data)) = result.outcome else { panic!("data: {result:?}") };
    assert_eq!(serde_json::from_str::<Value>(&data).unwrap(), json!({"state": "sent"}));
    host.half_close();
    assert!(host.next().await.unwrap().is_none());
}

type Change<'a> = &'a dyn Fn(&mut Auth);

#[tokio::test]
async fn hosts_leave_when_the_signer_of_their_tokens_is_another_one() {
    let world = World::start().await;
    let (shop, bank) = (world.issued("shop-host", &[]), world.domain.token(BANK, &[]));
    let changes: [(&str, &str, Change<'_>); 3] = [
        (&shop, ORDER, &|it| it.issuers.clear()),
        (&shop, ORDER, &|it| it.issuers[0].tokens.audience = vec!["else".to_owned()]),
        (&bank, "bank_status", &|it| it.trust_domains.clear()),
    ];
    for (token, tool, change) in changes {
        let (mut host, _) = world.join(token, tool).await.unwrap();
        let mut auth = Auth { rules: Vec::new(), ..world.auth.clone() };
        world.server.app.replace_auth(auth.clone()).unwrap();
        change(&mut auth);
        world.server.app.replace_auth(auth).unwrap();
        let reason = leave(&mut host).await;
        assert!(reason.contains("of its token is no longer the configured one"), "{reason}");
        assert_eq!(world.join(token, tool).await.map(|it| it.1).unwrap_err().code(), Code::Unauthenticated);
        world.server.app.replace_auth(world.auth.clone()).unwrap();
    }
    world.join(&shop, ORDER).await.unwrap();
}
