//! Signing in from a shell: the device grant at an authorization server, the tokens that are kept, and whom they are
//! presented to.

use std::{
    collections::BTreeMap,
    fs,
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Output,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;
use url::form_urlencoded;
use wiremock::{Mock, Request, ResponseTemplate, matchers::path};

use crate::{
    http::issuers::Issuer,
    mcp::client::{Era, Message, Stdio},
    support::{authority::Authority, program::Program},
};

const CODE: &str = "ABCD-EFGH";

type Form = BTreeMap<String, String>;

/// What an authorization server was asked for, and how it answers.
#[derive(Default)]
struct State {
    registrations: usize,
    devices: Vec<Form>,
    grants: Vec<Form>,
    /// Whether the person says no.
    denies: bool,
    /// The refresh token that is valid: each serves once.
    refresh_token: String,
    /// How long tokens live, in seconds.
    life: u64,
}

/// An issuer that registers clients and offers the device grant. A person signs in once the program has asked twice.
struct AuthorizationServer {
    issuer: Arc<Issuer>,
    state: Arc<Mutex<State>>,
}

impl AuthorizationServer {
    async fn start() -> Self {
        let server = Self { issuer: Arc::new(Issuer::start().await), state: Arc::default() };
        let url = server.issuer.server.uri();
        let metadata = json!({
            "issuer": url,
            "jwks_uri": format!("{url}/keys"),
            "token_endpoint": format!("{url}/token"),
            "device_authorization_endpoint": format!("{url}/device"),
            "registration_endpoint": format!("{url}/register"),
            "scopes_supported": ["tools", "offline_access"],
        });
        server.serve("/.well-known/oauth-authorization-server", move |_, _| (200, metadata.clone())).await;
        server
            .serve("/register", |state, _| {
                state.registrations += 1;
                (201, json!({"client_id": format!("cli-{}", state.registrations)}))
            })
            .await;
        server
            .serve("/device", move |state, form| {
                state.devices.push(form);
                let address = format!("{url}/activate");
                let whole = format!("{address}?user_code={CODE}");
                (
                    200,
                    json!({"device_code": "d3vice", "user_code": CODE, "verification_uri": address,
                             "verification_uri_complete": whole, "expires_in": 60, "interval": 1}),
                )
            })
            .await;
        let issuer = Arc::clone(&server.issuer);
        server.serve("/token", move |state, form| answer_grant(&issuer, state, form)).await;
        server
    }

    async fn serve(
        &self,
        at: &str,
        answer: impl Fn(&mut State, Form) -> (u16, Value) + Send + Sync + 'static,
    ) {
        let state = Arc::clone(&self.state);
        let respond = move |request: &Request| {
            let form = form_urlencoded::parse(&request.body).into_owned().collect();
            let (status, body) = answer(&mut state.lock().unwrap(), form);
            ResponseTemplate::new(status).set_body_json(body)
        };
        Mock::given(path(at)).respond_with(respond).mount(&self.issuer.server).await;
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

fn answer_grant(issuer: &Issuer, state: &mut State, form: Form) -> (u16, Value) {
    let error = |code: &str| (400, json!({"error": code}));
    let (count, is_refresh) = (state.grants.len() + 1, form["grant_type"] == "refresh_token");
    let resource = form["resource"].clone();
    let is_wrong = if is_refresh {
        form["refresh_token"] != state.refresh_token
    } else {
        form["device_code"] != "d3vice"
    };
    state.grants.push(form);
    if is_wrong {
        return error("invalid_grant");
    }
    if state.denies {
        return error("access_denied");
    }
    if !is_refresh && count % 2 == 1 {
        return error("authorization_pending");
    }
    state.refresh_token = format!("refresh-{count}");
    let scope = state.devices.last().unwrap()["scope"].clone();
    let token = issuer.token("8f2c", &["support"], &[("aud", json!(resource)), ("scope", json!(scope))]);
    let token = token.trim_start_matches("authorization: Bearer ");
    // Of a life of 0 s, each command finds it due, and refreshes it.
    (
        200,
        json!({"access_token": token, "token_type": "Bearer", "expires_in": state.life, "scope": scope,
                 "refresh_token": state.refresh_token}),
    )
}

/// A server whose users are those of the issuer, and a home of a person.
struct Place {
    program: Program,
    /// Of MCP.
    url: String,
    home: TempDir,
    _directory: TempDir,
}

impl Place {
    async fn start(server: &AuthorizationServer) -> Self {
        Self::with_rules(
            server,
            "[[auth.rules]]\nwho = ['group:corp/support']\ntools = ['*']\nscope = 'tools'\n",
        )
        .await
    }

    async fn with_rules(server: &AuthorizationServer, rules: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let file = format!(
            "[http]\npublic_url = 'http://{free}'\n\
             [[auth.issuers]]\nname = 'corp'\nissuer = '{}'\naudience = ['toolwire']\ngroups = 'groups'\n\
             {rules}",
            server.issuer.server.uri()
        );
        fs::write(directory.path().join("toolwire.toml"), file).unwrap();
        let program = Program::start(directory.path(), &[&format!("--http={free}")], &[]).await;
        let home = tempfile::tempdir().unwrap();
        Self { program, url: format!("http://{free}/mcp"), home, _directory: directory }
    }

    fn grpc(&self) -> String {
        format!("http://{}", self.program.address)
    }

    async fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolwire"));
        command.args(arguments).current_dir(self.home.path()).env("XDG_CONFIG_HOME", self.home.path());
        for name in ["TOOLWIRE_SERVER", "TOOLWIRE_TOKEN", "TOOLWIRE_CLIENT_ID"] {
            command.env_remove(name);
        }
        command.output().await.unwrap()
    }

    /// The files of tokens.
    fn files(&self) -> Vec<PathBuf> {
        let folder = self.home.path().join("toolwire/tokens");
        let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        paths.filter(|path| path.extension().is_some_and(|it| it == "json")).collect()
    }
}

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[track_caller]
fn assert_done(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[track_caller]
fn assert_fails(output: &Output, words: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains(words), "{output:?}");
}

#[tokio::test]
async fn a_person_signs_in_once_and_the_token_goes_to_that_server_alone() {
    let server = AuthorizationServer::start().await;
    let place = Place::start(&server).await;
    let grpc = place.grpc();
    let hint = format!("or sign in: `toolwire login {grpc}`");
    assert_fails(&place.run(&["list", "--server", &grpc]).await, &hint);
    let login = ["login", &place.url, "--server", &grpc];
    let output = place.run(&login).await;
    assert!(assert_done(&output).contains("for tools offline_access; commands with --server"), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    let address =
        format!("open {}/activate in a browser and enter the code {CODE}", server.issuer.server.uri());
    assert!(said.contains(&address), "{said}");
    {
        let state = server.state();
        let resource = &place.url;
        let [device] = &state.devices[..] else { panic!("one") };
        assert_eq!((&device["client_id"][..], &device["resource"]), ("cli-1", resource));
        assert_eq!(device["scope"], "tools offline_access");
        assert_eq!(state.grants.len(), 2);
        assert!(
            state.grants.iter().all(|grant| grant["client_id"] == "cli-1" && &grant["resource"] == resource)
        );
    }
    let [file] = &place.files()[..] else { panic!("one file") };
    assert_eq!((mode_of(file), mode_of(file.parent().unwrap())), (0o600, 0o700));

    assert!(assert_done(&place.run(&["list", "--server", &grpc]).await).contains("get_quotes"));
    let refreshed = server.state().grants.len();
    assert!(refreshed > 2 && server.state().grants.last().unwrap()["grant_type"] == "refresh_token");
    assert_done(&place.run(&["call", "browse_news", "--server", &grpc]).await);
    assert!(server.state().grants.len() > refreshed, "by the token that replaced the first");

    // The same server by another name is another one.
    let elsewhere = grpc.replace("127.0.0.1", "localhost");
    assert_fails(&place.run(&["list", "--server", &elsewhere]).await, "wants credentials");
    // A token that is given is the one that counts.
    assert_fails(&place.run(&["list", "--server", &grpc, "--token", "other"]).await, "UNAUTHENTICATED");

    assert_done(&place.run(&login).await);
    assert_eq!((server.state().registrations, place.files().len()), (1, 1));
    assert!(
        assert_done(&place.run(&["login", &place.url, "--server", &grpc, "--forget"]).await)
            .contains("1 removed")
    );
    assert!(place.files().is_empty());
    assert_fails(&place.run(&["list", "--server", &grpc]).await, "wants credentials");
}

#[tokio::test]
async fn a_person_s_no_keeps_nothing_and_a_server_without_an_issuer_says_so() {
    let server = AuthorizationServer::start().await;
    let place = Place::start(&server).await;
    server.state().denies = true;
    let grpc = place.grpc();
    assert_fails(&place.run(&["login", &place.url, "--server", &grpc]).await, "the sign-in was denied there");
    assert!(place.files().is_empty());
    // Another origin's server may not have the token of this one.
    let plain = ["login", &place.url, "--server", "http://tools.example"];
    assert_fails(&place.run(&plain).await, "must be https://");
    let other = format!("{}/keys", server.issuer.server.uri());
    assert_fails(&place.run(&["login", &other]).await, "lets nobody sign in");
}

#[tokio::test]
async fn a_client_over_standard_input_and_output_is_served_once_its_person_has_signed_in() {
    let server = AuthorizationServer::start().await;
    let place = Place::start(&server).await;
    let (grpc, home) = (place.grpc(), place.home.path().to_str().unwrap());
    for devices in [1, 1] {
        let arguments = ["--server", &grpc, "--login", &place.url];
        let mut stdio = Stdio::start_with(&arguments, &[("XDG_CONFIG_HOME", home)]);
        stdio.greet(Era::New).await;
        let list = stdio.ask(&Message::new(Era::New, "tools/list", json!({}))).await;
        assert!(list["result"]["tools"].as_array().is_some_and(|tools| tools.len() > 10), "{list}");
        assert_eq!(server.state().devices.len(), devices, "the second time by the token that is kept");
    }
}

#[tokio::test]
async fn the_address_of_mcp_and_that_of_grpc_lead_to_one_another() {
    let server = AuthorizationServer::start().await;
    let place = Place::start(&server).await;
    let grpc = place.grpc();
    for url in [place.url.clone(), place.url.replace("/mcp", ""), grpc.clone()] {
        let output = assert_done(&place.run(&["login", &url]).await);
        assert!(output.contains(&format!("commands with --server {grpc} are yours")), "{url}: {output}");
        let [file] = &place.files()[..] else { panic!("one file") };
        assert!(fs::read_to_string(file).unwrap().contains(&format!("\"url\": \"{}\"", place.url)), "{url}");
        assert!(assert_done(&place.run(&["list", "--server", &grpc]).await).contains("get_quotes"));
        assert!(assert_done(&place.run(&["login", &place.url, "--forget"]).await).contains("1 removed"));
    }
    let home = place.home.path().to_str().unwrap();
    let mut stdio = Stdio::start_with(&["--server", &grpc], &[("XDG_CONFIG_HOME", home)]);
    stdio.greet(Era::New).await;
    let list = stdio.ask(&Message::new(Era::New, "tools/list", json!({}))).await;
    assert!(list["result"]["tools"].as_array().is_some_and(|tools| tools.len() > 10), "{list}");
}

#[tokio::test]
async fn a_running_client_has_more_scope_once_its_person_has_signed_in_for_it() {
    let server = AuthorizationServer::start().await;
    server.state().life = 600;
    let rule = |tools: &str, scope: &str| {
        format!("[[auth.rules]]\nwho = ['group:corp/support']\ntools = ['{tools}']\nscope = '{scope}'\n")
    };
    let rules = rule("get_*", "tools") + &rule("add_to_watchlist", "pay");
    let place = Place::with_rules(&server, &rules).await;
    let (grpc, home) = (place.grpc(), place.home.path().to_str().unwrap());
    assert_done(&place.run(&["login", &place.url, "--scope", "tools"]).await);
    let mut stdio = Stdio::start_with(&["--server", &grpc], &[("XDG_CONFIG_HOME", home)]);
    stdio.greet(Era::New).await;
    let call = Message::call(Era::New, "add_to_watchlist", &json!({"symbol": "TCS"}), &json!({}));
    let refused = stdio.ask(&call).await["result"]["content"][0]["text"].to_string();
    let command = format!("`toolwire login {} --server {grpc} --scope ", place.url);
    assert!(refused.contains("INSUFFICIENT_SCOPE") && refused.contains(&command), "{refused}");
    let shown = place.run(&["call", "add_to_watchlist", "TCS", "--server", &grpc]).await;
    let said = String::from_utf8_lossy(&shown.stderr).into_owned();
    let (_, rest) = said.split_once(&command).unwrap_or_else(|| panic!("{said}"));
    let scope = rest.split('"').nth(1).unwrap();
    let mut words: Vec<_> = scope.split(' ').collect();
    words.sort_unstable();
    assert_eq!(words, ["pay", "tools"]);
    assert_done(&place.run(&["login", &place.url, "--server", &grpc, "--scope", scope]).await);
    let done = stdio.ask(&call).await;
    assert!(!done.to_string().contains("INSUFFICIENT_SCOPE"), "{done}");
}

#[tokio::test]
async fn a_certificate_of_an_unknown_authority_is_told_with_the_setting_that_names_one() {
    let (authority, home) = (Authority::new(), tempfile::tempdir().unwrap());
    authority.sign("localhost");
    let files = ["cert.pem", "key.pem"].map(|name| authority.file(name).display().to_string());
    let secured = ["--http=127.0.0.1:0", "--tls-cert", &files[0], "--tls-key", &files[1]];
    let issuer = Program::start(home.path(), &secured, &[]).await;
    let url = format!("https://localhost:{}", issuer.http.unwrap().port());
    let mut login = Command::new(env!("CARGO_BIN_EXE_toolwire"));
    let login = login.args(["login", &format!("{url}/mcp")]).env("XDG_CONFIG_HOME", home.path()).output();
    assert_fails(&login.await.unwrap(), "name the authority's certificate with --ca FILE");
    let file = format!(
        "[[auth.issuers]]\nname = 'corp'\nissuer = '{url}'\naudience = ['toolwire']\n\
         [[auth.rules]]\nwho = ['group:corp/support']\ntools = ['*']\n"
    );
    fs::write(home.path().join("toolwire.toml"), file).unwrap();
    let mut program = Program::start(home.path(), &[], &[]).await;
    let (line, before) = program.wait_for_log("the keys of the issuer cannot be fetched").await;
    assert!(line["why"].as_str().unwrap().contains("by ca of the issuer, or ca of [network]"), "{line}");
    let is_raw = |line: &Value| line["target"].as_str().unwrap().starts_with("rustls");
    assert!(!before.iter().any(is_raw), "{before:?}");
}
