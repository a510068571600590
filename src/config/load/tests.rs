//! What a configuration says, whatever its origin; and what it refuses, naming the origin.

mod mistakes;
mod sections;
mod webhooks;

use std::time::Duration;

use super::*;
use crate::{Environment, Flags, LogFormat, TokenDigest, print, testing};

const TOKEN: &str = "s3cret-token-of-riley";

fn loaded(file: &str, variables: &[(&str, &str)], flags: Flags) -> Result<Loaded, ConfigError> {
    testing::load_text(file, variables, flags, &[])
}

#[track_caller]
fn refused(file: &str, variables: &[(&str, &str)], flags: Flags) -> String {
    loaded(file, variables, flags).unwrap_err().to_string()
}

#[test]
fn without_anything_said_the_defaults_hold() {
    let config =
        load(&Sources { directory: "/nonexistent".into(), ..Sources::default() }, &[]).unwrap().config;
    assert_eq!(config.server.listen.to_string(), "127.0.0.1:50051");
    assert_eq!(config.server.limits.max_request_bytes, 1024 * 1024);
    assert_eq!(config.data.default_user.as_str(), "demo");
    assert!(config.auth.users.is_empty() && config.telemetry.traces.is_none());
}

#[test]
fn a_flag_wins_over_a_variable_and_that_over_the_file() {
    let file =
        "[server]\nlisten = '127.0.0.1:1'\ndeadline_cap = '1m'\n[log]\nformat = 'text'\nfilter = 'warn'";
    let variables =
        [("TOOLWIRE_LISTEN", "127.0.0.1:2"), ("TOOLWIRE_LOG", "json"), ("TOOLWIRE_LOG_FILTER", "")];
    let flags = Flags::default().set("server.listen", Some("127.0.0.1:3")).set("log.format", None::<&str>);
    let loaded = loaded(file, &variables, flags).unwrap();
    let config = &loaded.config;
    assert_eq!(config.server.listen.port(), 3);
    assert_eq!(config.log.format, LogFormat::Json);
    assert_eq!(config.log.filter, "warn");
    assert_eq!(config.server.deadline_cap, Duration::from_mins(1));
    assert_eq!(loaded.origin("server.listen"), Origin::Flag("--listen"));
    assert_eq!(loaded.origin("log.format"), Origin::Variable("TOOLWIRE_LOG".to_owned()));
    assert!(matches!(loaded.origin("log.filter"), Origin::File(path, 6) if path.ends_with("toolwire.toml")));
    assert_eq!(loaded.origin("data.dir"), Origin::Default);
}

#[test]
fn variables_are_texts_of_any_type() {
    let variables = [
        ("TOOLWIRE_REUSE_PORT", "true"),
        ("TOOLWIRE_MAX_CONNECTIONS", "7"),
        ("TOOLWIRE_MAX_REQUEST_BYTES", "2MiB"),
        ("TOOLWIRE_STREAM_WINDOW", "70000"),
        ("TOOLWIRE_DRAIN_LAME_DUCK", "0s"),
        ("TOOLWIRE_DATA", "1"),
        ("TOOLWIRE_DEFAULT_USER", "42"),
        ("TOOLWIRE_LISTEN", "localhost:0"),
        ("TOOLWIRE_HTTP_ALLOWED_ORIGINS", "https://one.example, https://two.example"),
        ("TOOLWIRE_HTTP_ALLOWED_HOSTS", "tools.example"),
        ("TOOLWIRE_TRUSTED_PEERS", "10.0.0.0/8,192.0.2.7"),
    ];
    let config = loaded("", &variables, Flags::default()).unwrap().config;
    assert!(config.server.reuse_port);
    assert_eq!(config.server.limits.max_connections, 7);
    assert_eq!(config.server.limits.max_request_bytes, 2 * 1024 * 1024);
    assert_eq!(config.server.limits.stream_window, 70_000);
    assert_eq!(config.server.limits.connection_window, 7_000_000, "all streams of a connection");
    assert_eq!(config.server.drain.lame_duck, Duration::ZERO);
    assert_eq!(config.data.dir, Some("1".into()));
    assert_eq!(config.data.default_user.as_str(), "42");
    assert!(config.server.listen.ip().is_loopback());
    assert_eq!(config.http.allowed_origins, ["https://one.example", "https://two.example"]);
    assert_eq!(config.http.allowed_hosts, ["tools.example"]);
    assert_eq!(config.server.limits.trusted_peers.len(), 2);
}

#[test]
fn every_unknown_key_is_refused_with_the_near_one() {
    let error = refused(
        "[server]\nlisen = 'x'\n[sever]\nlisten = 'x'\n[telemetry]\notlp = true",
        &[],
        Flags::default(),
    );
    assert!(
        error.contains("toolwire.toml:2: server.lisen: unknown setting. Did you mean server.listen?"),
        "{error}"
    );
    assert!(error.contains("sever: unknown setting"), "{error}");
    assert!(error.contains("OTEL_"), "{error}");
    assert_eq!(error.lines().count(), 3, "{error}");
}

#[test]
fn an_unknown_variable_of_ours_is_refused() {
    let error = refused("", &[("TOOLWIRE_LISTN", "x"), ("OTHER_LISTN", "x")], Flags::default());
    assert_eq!(error, "variable TOOLWIRE_LISTN: unknown setting. Did you mean TOOLWIRE_LISTEN?");
}

#[test]
fn variables_that_kubernetes_sets_for_a_service_of_our_name_are_let_be() {
    let links = [
        ("TOOLWIRE_SERVICE_HOST", "10.0.0.1"),
        ("TOOLWIRE_SERVICE_PORT_GRPC", "50051"),
        ("TOOLWIRE_PORT", "tcp://10.0.0.1:50051"),
        ("TOOLWIRE_PORT_50051_TCP_ADDR", "10.0.0.1"),
        ("TOOLWIRE_EU_PORT", "tcp://10.0.0.2:50051"),
    ];
    assert!(loaded("", &links, Flags::default()).is_ok());
}

#[test]
fn a_wrong_value_is_found_where_it_was_said() {
    let error = refused("[server]\ndeadline_cap = 5", &[], Flags::default());
    assert!(
        error.contains("toolwire.toml:2: server.deadline_cap: expected a length of time such as"),
        "{error}"
    );
    let error = refused("", &[("TOOLWIRE_DEADLINE_CAP", "5")], Flags::default());
    assert!(
        error.starts_with("variable TOOLWIRE_DEADLINE_CAP: expected a length of time such as"),
        "{error}"
    );
    let error = refused("", &[], Flags::default().set("server.listen", Some("50051")));
    assert!(error.starts_with("flag --listen: expected an address and a port such as"), "{error}");
    let error = refused("[log]\nformat = 'xml'", &[], Flags::default());
    assert!(error.ends_with("log.format: expected one of auto, json, text, but found \"xml\""), "{error}");
    let error = refused("server = 3", &[], Flags::default());
    assert!(error.ends_with("toolwire.toml:1: server: expected a table [server], but found 3"), "{error}");
}

#[test]
fn values_that_cannot_work_are_refused_together() {
    let variables = [
        ("TOOLWIRE_DEADLINE_CAP", "0s"),
        ("TOOLWIRE_MAX_CONNECTIONS", "0"),
        ("TOOLWIRE_STREAM_WINDOW", "3000000000"),
        ("TOOLWIRE_LOG_FILTER", "toolwire=loud"),
        ("TOOLWIRE_DRAIN_FORCED_END", "1s"),
    ];
    let error = refused("", &variables, Flags::default());
    for (name, _) in variables {
        assert!(error.contains(&format!("variable {name}: ")), "{name}: {error}");
    }
}

#[test]
fn a_file_that_is_named_must_exist_and_be_toml() {
    let flags = Flags::with_file(Some("/nonexistent/x.toml".into()));
    let error = refused("", &[], flags);
    assert!(
        error.starts_with("/nonexistent/x.toml: cannot be read") && error.contains("--config"),
        "{error}"
    );
    let error = refused("", &[("TOOLWIRE_CONFIG", "/nonexistent/y.toml")], Flags::default());
    assert!(error.starts_with("/nonexistent/y.toml: "), "{error}");
    let error = refused("[server]\n\nlisten = ", &[], Flags::default());
    assert!(error.contains("toolwire.toml:3: not valid TOML"), "{error}");
}

#[test]
fn users_have_tokens_from_the_file_or_from_a_variable() {
    let file = format!(
        "[[auth.users]]\nuser_id = 'riley'\ntoken = '{TOKEN}'\n\
         [[auth.users]]\nuser_id = 'ops'\nrole = 'operator'\ntoken_env = 'TOOLWIRE_OPS_TOKEN'\ntools = ['get_*']"
    );
    let config = loaded(&file, &[("TOOLWIRE_OPS_TOKEN", "0ps")], Flags::default()).unwrap().config;
    let [riley, ops] = config.auth.users.as_slice() else { panic!("{:?}", config.auth) };
    assert_eq!((riley.user_id.as_str(), riley.token), ("riley", Some(TokenDigest::of(TOKEN.as_bytes()))));
    assert_eq!((ops.role.as_deref(), ops.token), (Some("operator"), Some(TokenDigest::of(b"0ps"))));
    assert!(riley.may_call("debug_write") && ops.may_call("get_quotes") && !ops.may_call("debug_write"));
}

#[test]
fn a_user_without_a_usable_token_is_refused() {
    let user = |rest: &str| refused(&format!("[[auth.users]]\nuser_id = 'a'\n{rest}"), &[], Flags::default());
    assert!(user("").contains("auth.users.0: expected token, token_env"));
    assert!(
        user("token = 'x'\ntoken_env = 'X'").contains("expected one of token, token_env and token_sha256")
    );
    assert!(user("token = ''").contains("visible ASCII"));
    assert!(user("token = '[hidden]'").contains("only stands for one"));
    assert!(
        user("token = 'x'\n[[auth.users]]\nuser_id = 'b'\ntoken = 'x'").contains("auth.users.1: its token")
    );
    assert!(user("token = 'x'\ntools = ['Get*']").contains("expected a tool name or a pattern"));
}

#[test]
fn only_a_server_needs_the_tokens_of_users_and_providers() {
    let file = "[[auth.users]]\nuser_id = 'a'\ntoken_env = 'X'\n[[auth.users]]\nuser_id = 'b'\ntoken_env = 'Y'\n\
                [providers.shop]\nkind = 'host'\ntoken_env = 'Z'\n\
                [providers.docs]\nkind = 'mcp'\nurl = 'https://docs.example/mcp'\ntoken_env = 'W'";
    let loaded = loaded(file, &[], Flags::default()).expect("good for a command");
    assert_eq!(loaded.config.auth.users.len(), 2, "two without a token are not of one token");
    assert!(loaded.config.auth.users.iter().all(|user| user.token.is_none()));
    assert_eq!((loaded.config.providers.0.len(), loaded.config.providers.host_tokens().count()), (2, 0));
    let error = loaded.for_server().unwrap_err().to_string();
    for name in ["X", "Y", "Z", "W"] {
        assert!(error.contains(&format!("token_env names {name}, which is not set")), "{error}");
    }
    let beside_others = refused(&format!("[sever]\n{file}"), &[], Flags::default());
    assert!(beside_others.contains("names X") && beside_others.contains("sever"), "{beside_others}");
}

#[test]
fn a_user_may_have_the_digest_of_a_token_in_place_of_the_token() {
    let digest = toolwire_base::digest::Digest::of_bytes(TOKEN.as_bytes());
    let riley = |rest: &str| format!("[[auth.users]]\nuser_id = 'riley'\n{rest}");
    let hashed = loaded(&riley(&format!("token_sha256 = '{digest}'")), &[], Flags::default()).unwrap();
    assert_eq!(hashed.config.auth.users[0].token, Some(TokenDigest::of(TOKEN.as_bytes())));
    assert_eq!(hashed.warnings, [], "nothing is known of its strength");
    let shown = print(&hashed);
    assert!(shown.contains("token = \"[hidden]\"") && !shown.contains(&digest.to_string()), "{shown}");
    let refuse = |rest: &str| refused(&riley(rest), &[], Flags::default());
    for (wrong, words) in [
        (
            format!("token_sha256 = '{}'", digest.to_string().to_uppercase()),
            "64 hexadecimal digits in lower case",
        ),
        (format!("token_sha256 = '{TOKEN}'"), "64 hexadecimal digits"),
        ("token_sha256 = ''".to_owned(), "64 hexadecimal digits"),
        ("token_sha256 = '[hidden]'".to_owned(), "only stands for one"),
        (
            format!("token_sha256 = '{digest}'\ntoken = '{TOKEN}'"),
            "expected one of token, token_env and token_sha256",
        ),
        (
            format!("token = '{TOKEN}'\n[[auth.users]]\nuser_id = 'b'\ntoken_sha256 = '{digest}'"),
            "its token belongs",
        ),
    ] {
        let error = refuse(&wrong);
        assert!(
            error.contains(words) && !error.contains(TOKEN) && !error.contains(&digest.to_string()),
            "{error}"
        );
    }
}

#[test]
fn what_a_user_may_do_does_not_depend_on_which_entry_comes_first() {
    let riley = "[[auth.users]]\nuser_id = 'riley'\n";
    let replaced = format!("{riley}token = 'old'\n{riley}token = 'new'");
    assert_eq!(loaded(&replaced, &[], Flags::default()).unwrap().config.auth.users.len(), 2);
    let error = refused(&format!("{replaced}\ntools = ['get_*']"), &[], Flags::default());
    assert!(error.contains("auth.users.1: an earlier entry of the same user"), "{error}");
}

#[test]
fn weak_tokens_are_reported_without_being_shown() {
    let warnings = |token: &str| {
        let file = format!("[[auth.users]]\nuser_id = 'riley'\ntoken = '{token}'");
        loaded(&file, &[], Flags::default()).unwrap().warnings
    };
    for weak in ["s3cret", "aaaaaaaaaaaaaaaaaaaaaaaa", "abababababababababab"] {
        let [warning] = &warnings(weak)[..] else { panic!("{weak}") };
        assert!(warning.at.ends_with("toolwire.toml:1: auth.users.0"), "{warning}");
        assert!(warning.what.contains("easy to guess") && !warning.what.contains(weak), "{warning}");
    }
    assert_eq!(warnings("9f2c4be17d0a83561c7e4ab29d305f68"), []);
}

#[test]
fn secrets_are_never_shown() {
    let file = format!("[[auth.users]]\nuser_id = 'riley'\ntoken = '{TOKEN}'");
    let loaded = loaded(&file, &[], Flags::default()).unwrap();
    let printed = print(&loaded);
    assert!(printed.contains("token = \"[hidden]\""), "{printed}");
    let sources = Sources { environment: Environment::of(&[("RILEY", TOKEN)]), ..Sources::default() };
    for text in [printed, format!("{loaded:?} {sources:?}")] {
        assert!(!text.contains(TOKEN), "{text}");
    }
}

#[test]
fn secrets_are_not_shown_by_errors_either() {
    let number = TOKEN.len() * 1_234_567;
    for wrong in [
        format!("user_id = 'a'\ntoken = {number}"),
        format!("user_id = 'a'\ntoken = ['{TOKEN}']"),
        format!("user_id = 'a'\ntoken = '{TOKEN}"),
        format!("user_id = 'a'\ntoken = '{TOKEN}'\ntoken = '{TOKEN}'"),
        format!("user_id = 'a'\ntoken = '{TOKEN} '"),
        format!("user_id = 'a'\ntokn = '{TOKEN}'"),
    ] {
        let error = refused(&format!("[[auth.users]]\n{wrong}"), &[], Flags::default());
        assert!(!error.contains(TOKEN) && !error.contains(&number.to_string()), "{error}");
    }
}

#[test]
fn what_is_printed_is_understood_again() {
    let variables =
        [("TOOLWIRE_LISTEN", "[::1]:9"), ("TOOLWIRE_DATA", "a \"b\" c"), ("TOOLWIRE_LOG", "text")];
    let first = loaded("", &variables, Flags::default()).unwrap();
    let printed = print(&first);
    assert!(printed.contains("# TOOLWIRE_LISTEN (--listen, TOOLWIRE_LISTEN)"), "{printed}");
    assert!(printed.contains("# default (TOOLWIRE_DEADLINE_CAP)"), "{printed}");
    let second = loaded(&printed, &[], Flags::default()).unwrap();
    assert_eq!(format!("{:?}", second.config), format!("{:?}", first.config));
}

#[test]
fn calls_of_tasks_are_decided_on_as_long_as_others_unless_it_is_said() {
    let times = |file: &str, variables: &[(&str, &str)]| {
        let confirmations = loaded(file, variables, Flags::default()).unwrap().config.confirmations;
        (confirmations.expire_in, confirmations.tasks_expire_in)
    };
    let minutes = Duration::from_mins;
    assert_eq!(times("", &[]), (minutes(10), minutes(10)));
    assert_eq!(times("[confirmations]\nexpire_in = '3m'", &[]), (minutes(3), minutes(3)));
    let file = "[confirmations]\ntasks_expire_in = '72h'";
    assert_eq!(times(file, &[]), (minutes(10), Duration::from_hours(72)));
    let variable = [("TOOLWIRE_CONFIRMATIONS_TASKS_EXPIRE_IN", "48h")];
    assert_eq!(times(file, &variable), (minutes(10), Duration::from_hours(48)));
    let refused = refused("[confirmations]\ntasks_expire_in = '721h'", &[], Flags::default());
    assert!(refused.contains("confirmations.tasks_expire_in"), "{refused}");
}
