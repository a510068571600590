//! The callers, and a server that knows all of them.

use std::{fmt::Write, fs, net::SocketAddr, sync::Arc};

use bytes::Bytes;
use futures_util::future::join_all;
use h2::client::Builder;
use http::Request;
use prost_reflect::DynamicMessage;
use rustls::pki_types::ServerName;
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpSocket;
use tokio_rustls::TlsConnector;
use toolwire::config::{ClientAuth, Flags, Tls, testing};

use super::super::{
    cases::Case,
    world::{MONEY, Names, Planted, headers},
};
use crate::{
    http::{house::House, issuers::Issuer, raw::Answer},
    support::{
        authority::Authority,
        data_directory,
        raw::{Raw, RawEnd},
        save,
    },
};

/// Each user, the tool that only this one may call, and what only this one's account holds.
pub(super) const CALLERS: [(&str, &str, &str); 5] = [
    ("riley", "get_facts", MONEY),
    ("corp:riley", "backtest_filter", "23417.17"),
    ("partner:riley", "list_documents", "23418.27"),
    ("Riley", "debug_confirm_nested", "23419.37"),
    ("riley@example.org", "debug_nested", "23420.47"),
];

const TOKEN: &str = "a-long-enough-t0ken";
const WORKLOAD: &str = "spiffe://example.org/ns/shop/sa/riley";
/// The same in another trust domain.
const FORWARDED: &str = "spiffe://other.example/ns/shop/sa/riley";
const HASH: &str = "Hash=468ed33be74eee6556d90c0149c1309e9ba61d6425303443c0748a02dd8de688";

/// Where requests of clients come from, and those of a proxy that is believed.
const CLIENT: [u8; 4] = [127, 0, 0, 1];
const PROXY: [u8; 4] = [127, 0, 0, 2];

/// A server and those who call it.
pub(super) struct Callers {
    pub(super) all: Vec<Caller>,
    pub(super) house: House,
    _data: TempDir,
}

/// A user, by a connection to each listener.
pub(super) struct Caller {
    pub(super) id: &'static str,
    /// The tool that only this one may call.
    pub(super) own_tool: &'static str,
    money: &'static str,
    http: Raw,
    grpc: Raw,
    credentials: Vec<(&'static str, String)>,
}

/// What clients trust, and the certificate that some present.
struct Mesh {
    authority: Authority,
    workload: (String, String),
}

impl Callers {
    pub(super) async fn start() -> Self {
        Self::with("").await
    }

    /// A server whose settings have these lines besides.
    pub(super) async fn with(more: &str) -> Self {
        let (corp, partner, data) = (Issuer::start().await, Issuer::start().await, data());
        let authority = Authority::new();
        authority.sign("localhost");
        let workload = authority.sign_client(&[WORKLOAD], 2100);
        let mesh = Mesh { authority, workload };
        let text = settings(&corp, &partner, more);
        let settings = testing::load_text(&text, &[], Flags::default(), &[]).expect("good settings").config;
        let house = House::with(|config| {
            config.auth = settings.auth;
            config.quotas = settings.quotas;
            config.toolsets = settings.toolsets;
            config.http.public_url = settings.http.public_url;
            config.confirmations.own_calls = true;
            config.data.dir = Some(data.path().to_owned());
            config.server.tls = mesh.tls();
        });
        let claims = [("email", json!("riley@example.org"))];
        let bearer = |issuer: &Issuer| {
            let header = issuer.token("riley", &["staff"], &claims);
            ("authorization", header.trim_start_matches("authorization: ").to_owned())
        };
        let forwarded = || ("x-forwarded-client-cert", format!("{HASH};URI={FORWARDED}"));
        let own = ("authorization", format!("Bearer {TOKEN}"));
        // A token beside a certificate, or beside what a proxy says of one, is the user.
        let presented = [
            (CLIENT, false, vec![own]),
            (CLIENT, true, vec![bearer(&corp)]),
            (PROXY, false, vec![forwarded(), bearer(&partner)]),
            (CLIENT, true, Vec::new()),
            (PROXY, false, vec![forwarded()]),
        ];
        let known = CALLERS.into_iter().zip(presented);
        let connect = async |((id, own_tool, money), (from, has_certificate, credentials))| {
            let connect = async |to| mesh.connect(from, has_certificate, to).await;
            let (http, grpc) =
                (connect(house.server.http.unwrap()).await, connect(house.server.address).await);
            Caller { id, own_tool, money, http, grpc, credentials }
        };
        let all = join_all(known.map(connect)).await;
        Self { all, house, _data: data }
    }

    /// Gives each of them something of everything.
    pub(super) async fn plant(&self, names: impl Fn() -> Names) -> Vec<Planted> {
        join_all(self.all.iter().map(|caller| caller.plant(names()))).await
    }
}

impl Caller {
    async fn plant(&self, names: Names) -> Planted {
        let sends = async |case: Case| self.send(&case, self.id).await;
        Planted::by([&*self.mark(), self.money], names, sends).await
    }

    /// What stands in everything that this one has.
    pub(super) fn mark(&self) -> String {
        format!("planted-by-{}-7f3a", self.own_tool)
    }

    /// Sends the request of a case, with this user in `x-toolwire-user`, and returns the answer.
    pub(super) async fn send(&self, case: &Case, named: &str) -> Answer {
        let mut request =
            Request::builder().method(case.method()).uri(format!("https://localhost{}", case.path));
        for header in headers(case) {
            let (name, value) = header.split_once(": ").unwrap();
            request = request.header(name, value);
        }
        for (name, value) in self.credentials.iter().chain([&("x-toolwire-user", named.to_owned())]) {
            request = request.header(*name, value);
        }
        let body = Bytes::from(case.body.clone());
        let answer = self.http.exchange(request.body(()).unwrap(), body).await;
        let text = |value: &http::HeaderValue| value.to_str().unwrap().to_owned();
        Answer {
            status: answer.status().as_u16(),
            headers: answer.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect(),
            body: answer.into_body(),
        }
    }

    /// Calls an RPC, with this user in `x-toolwire-user`, and returns its end.
    pub(super) async fn call(
        &self,
        method: &str,
        timeout: &str,
        message: &DynamicMessage,
        named: &str,
    ) -> Result<RawEnd, h2::Error> {
        let credentials = self.credentials.iter().map(|(name, value)| (*name, value.as_str()));
        let more = [("x-toolwire-user", named), ("grpc-timeout", timeout)];
        let headers: Vec<_> = credentials.chain(more).collect();
        self.grpc.start(&format!("/{method}"), &headers, message).await.end_or_reset().await
    }
}

impl Mesh {
    fn tls(&self) -> Tls {
        Tls {
            cert: Some(self.authority.file("cert.pem")),
            key: Some(self.authority.file("key.pem")),
            client_ca: Some(self.authority.file("ca.pem")),
            client_auth: Some(ClientAuth::Optional),
        }
    }

    async fn connect(&self, from: [u8; 4], has_certificate: bool, to: SocketAddr) -> Raw {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from((from, 0))).unwrap();
        let stream = socket.connect(to).await.unwrap();
        let mut config = self.authority.client(has_certificate.then_some(&self.workload));
        config.alpn_protocols = vec![b"h2".to_vec()];
        let name = ServerName::try_from("localhost").unwrap();
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
        Raw::over(stream, &Builder::new()).await
    }
}

/// Data in which each of them has an account, alike but for its amounts.
fn data() -> TempDir {
    let data = data_directory();
    let users = data.path().join("brokerage/users");
    let account = fs::read_to_string(users.join("riley.json")).unwrap();
    assert!(account.contains(MONEY));
    for (id, _, money) in &CALLERS[1..] {
        save(&users.join(format!("{id}.json")), &account.replace(MONEY, money));
    }
    let path = data.path().join("tools/add_to_watchlist.json");
    crate::support::patch_json(&path, &json!({"requires_confirmation": true}));
    data
}

/// The tools that all of them may call, as TOML.
fn common_tools() -> String {
    let folders = ["data/tools", "data/diagnostics"];
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = folders.iter().flat_map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let names = files.map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned());
    let is_common = |name: &String| CALLERS.iter().all(|(_, own, _)| own != name);
    json!(names.filter(is_common).collect::<Vec<_>>()).to_string()
}

fn settings(corp: &Issuer, partner: &Issuer, more: &str) -> String {
    let tools = common_tools();
    let [riley, corps, partners, workloads, forwardeds] = CALLERS.map(|(_, tool, _)| tool);
    let own = format!("{}, '{riley}']", tools.trim_end_matches(']'));
    let mut text = format!(
        "[http]\npublic_url = 'https://localhost'\n[toolsets.all]\ntools = ['*']\n\
         [auth]\ntrusted_proxies = ['127.0.0.2']\n\
         [[auth.users]]\nuser_id = 'riley'\nemail = 'riley@example.org'\ntoken = '{TOKEN}'\ntools = {own}\n\
         [[auth.spiffe]]\nid = '{WORKLOAD}'\nuser = 'Riley'\ngroups = ['staff']\n\
         [[auth.spiffe]]\nid = '{FORWARDED}'\nuser = 'riley@example.org'\ngroups = ['staff']\n{more}\n"
    );
    for (name, issuer) in [("corp", corp), ("partner", partner)] {
        let url = issuer.server.uri();
        write!(
            text,
            "[[auth.issuers]]\nname = '{name}'\nissuer = '{url}'\naudience = ['toolwire']\n\
             groups = 'groups'\nemail = 'email'\n"
        )
        .unwrap();
    }
    for (who, tools) in [
        ("'group:corp/staff', 'group:partner/staff', 'group:staff'", &*tools),
        ("'group:corp/staff'", &format!("['{corps}']")),
        ("'user:partner:riley'", &format!("['{partners}']")),
        ("'spiffe:example.org/ns/shop/sa/riley'", &format!("['{workloads}']")),
        ("'user:riley@example.org'", &format!("['{forwardeds}']")),
    ] {
        write!(text, "[[auth.rules]]\nwho = [{who}]\ntools = {tools}\n").unwrap();
    }
    text
}
