//! What a provider may say of itself in the file, and what is refused.

use std::time::Duration;

use super::*;
use crate::{Flags, print, testing};

const TOKENS: [(&str, &str); 3] = [
    ("SHOP_TOKEN", "shop-0123456789abcdef"),
    ("BANK_TOKEN", "bank-0123456789abcdef"),
    ("DOCS_KEY", "docs-0123456789abcdef"),
];

fn refused(file: &str) -> String {
    testing::load_text(file, &TOKENS, Flags::default(), &[]).expect_err("a problem").to_string()
}

#[test]
fn a_provider_is_read_with_its_floor_and_printed_without_its_token() {
    let file = "[providers.shop]\nkind = 'host'\ntoken_env = 'SHOP_TOKEN'\ntools = ['shop_*']\nat_least = 'medium'\n\
                approve = ['shop_delete_*']\nuntrusted = true\n[providers.shop.conditions.shop_refund]\n\
                amount = { maximum = 100 }\n[providers.bank]\nkind = 'host'\ntoken_env = 'BANK_TOKEN'";
    let loaded = testing::load_text(file, &TOKENS, Flags::default(), &[]).expect("good");
    let providers = &loaded.config.providers;
    let floor = providers.floor("shop");
    assert_eq!((floor.at_least, floor.untrusted), (Some(Consequence::Medium), true));
    assert!(floor.tools[0].matches("shop_refund") && !floor.tools[0].matches("refund"));
    assert!(floor.approve[0].matches("shop_delete_order"));
    assert_eq!(floor.conditions["shop_refund"]["amount"], serde_json::json!({"maximum": 100}));
    assert_eq!(providers.floor("bank"), ProviderFloor::default());
    let printed = print(&loaded);
    assert!(printed.contains("[providers.shop]") && !printed.contains("0123456789abcdef"), "{printed}");
    let again =
        testing::load_text(&printed, &TOKENS, Flags::default(), &[]).expect("what is printed is understood");
    assert_eq!(again.config.providers.floor("shop"), floor);
}

#[test]
fn what_is_wrong_with_a_provider_is_refused() {
    for (file, expected) in [
        ("[providers.shop]\nkind = 'host'", "token_env is missing"),
        ("[providers.shop]\ntoken_env = 'SHOP_TOKEN'", "kind is missing"),
        ("[providers.shop]\nkind = 'host'\nspiffe = 'shop'", "spiffe: expected a SPIFFE id"),
        (
            "[providers.shop]\nkind = 'host'\nspiffe = 'spiffe://a/shop'",
            "no client is asked for a certificate",
        ),
        (
            "[auth]\ntrusted_proxies = ['::1']\n[providers.a]\nkind = 'host'\nspiffe = 'spiffe://a/*'\n\
             [providers.b]\nkind = 'host'\nspiffe = 'spiffe://a/shop'",
            "spiffe matches ids of spiffe://a/* too",
        ),
        (
            "[auth]\ntrusted_proxies = ['::1']\n[[auth.spiffe]]\nid = 'spiffe://a/*'\nuser = 'agent'\n\
             [providers.b]\nkind = 'host'\nspiffe = 'spiffe://a/shop'",
            "spiffe matches ids of spiffe://a/* too",
        ),
        ("[providers.shop]\nkind = 'soap'\ntoken_env = 'SHOP_TOKEN'", "kind must be host"),
        ("[providers.local]\nkind = 'host'\ntoken_env = 'SHOP_TOKEN'", "not local"),
        (
            "[providers.shop]\nkind = 'host'\ntoken_env = 'SHOP_TOKEN'\nat_least = 'huge'",
            "low, medium or high",
        ),
        ("[providers.shop]\nkind = 'host'\ntoken_env = 'SHOP_TOKEN'\ntool = ['*']", "tool"),
        (
            "[providers.shop]\nkind = 'host'\ntoken_env = 'SHOP_TOKEN'\nconditions = { refund = 3 }",
            "expected a table of conditions on refund",
        ),
        (
            "[providers.a]\nkind = 'host'\ntoken_env = 'SHOP_TOKEN'\n[providers.b]\nkind = 'host'\ntoken_env = 'SHOP_TOKEN'",
            "another provider",
        ),
        (
            "[[auth.users]]\nuser_id = 'riley'\ntoken = 'shop-0123456789abcdef'\n[providers.a]\nkind = 'host'\ntoken_env = 'SHOP_TOKEN'",
            "a user",
        ),
    ] {
        let error = refused(file);
        assert!(error.contains(expected), "{file}: {error}");
    }
}

#[test]
fn limits_of_a_provider_are_read_printed_and_refused_when_wrong() {
    let host = "[providers.shop]\nkind = 'host'\ntoken_env = 'SHOP_TOKEN'\n";
    let file =
        format!("{host}max_requests = 2\nmin_delay = '1s'\nceiling_max_requests = 9\nceiling_window = '1h'");
    let loaded = testing::load_text(&file, &TOKENS, Flags::default(), &[]).expect("good");
    let limits = loaded.config.providers.0[0].limits;
    let second = Duration::from_secs(1);
    let of_user = RequestLimit { max_requests: 2, window: 60 * second, min_delay: second };
    let of_all = RequestLimit { max_requests: 9, window: 3_600 * second, min_delay: Duration::ZERO };
    assert_eq!(limits, ProviderLimits { per_user: Some(of_user), all: Some(of_all) });
    assert_eq!(read(&print(&loaded)).0[0].limits, limits);
    assert_eq!(read(host).0[0].limits, ProviderLimits::default());
    for (keys, expected) in [
        ("max_requests = 0", "max_requests must be more than zero"),
        ("max_requests = 2\nwindow = '0s'", "window must be more than zero"),
        ("window = '1m'", "window has no effect without max_requests"),
        ("max_requests = 2\nceiling_min_delay = '1s'", "ceiling_min_delay has no effect"),
        ("max_requests = -1", "max_requests"),
        ("max_request = 2", "max_requests"),
    ] {
        let error = refused(&format!("{host}{keys}"));
        assert!(error.contains(expected), "{keys}: {error}");
    }
}

fn read(file: &str) -> Providers {
    testing::load_text(file, &TOKENS, Flags::default(), &[]).expect("good").config.providers.clone()
}

#[test]
fn an_mcp_server_is_read_by_url_or_command_and_its_results_are_untrusted() {
    let file = "[providers.docs]\nkind = 'mcp'\nurl = 'https://docs.example/mcp'\ntoken_env = 'DOCS_KEY'\n\
                tools = { 'search-docs' = 'docs_search', fetch = 'docs_fetch', drop = false, '*' = false }\nread = ['docs_*']\n\
                [providers.files]\nkind = 'mcp'\ncommand = ['files', '--root', '/srv']\nenv = ['DOCS_KEY']\n\
                tools = ['files_*']\nuntrusted = false\n\
                [providers.inner]\nkind = 'mcp'\nurl = 'http://inner.example/mcp'\nplaintext = true";
    let loaded = testing::load_text(file, &TOKENS, Flags::default(), &[]).expect("good");
    let providers = &loaded.config.providers;
    assert_eq!(providers.host_tokens().count(), 0);
    let (name, docs) = providers.mcp_servers().next().expect("docs");
    assert_eq!(
        (name, docs.renames["search-docs"].as_deref(), docs.renames["drop"].as_deref()),
        ("docs", Some("docs_search"), None)
    );
    assert!(docs.read[0].matches("docs_search"));
    let floor = providers.floor("docs");
    assert!(floor.untrusted && floor.tools.iter().any(|it| it.as_str() == "docs_fetch"));
    assert!(!floor.tools.iter().any(|it| it.matches("search_docs")), "only what is named");
    let (_, files) = providers.mcp_servers().nth(1).expect("files");
    let McpTarget::Command { command, env } = &files.target else { panic!("a command") };
    assert_eq!((command.len(), env[0].1.expose_secret()), (3, TOKENS[2].1));
    assert!(!providers.floor("files").untrusted && providers.floor("inner").untrusted);
    let printed = print(&loaded);
    assert!(!printed.contains("0123456789abcdef"), "{printed}");
    let again = read(&printed);
    assert_eq!(again.floor("docs"), floor);
    assert_eq!(again.mcp_servers().count(), 3);
}

#[test]
fn what_is_wrong_with_an_mcp_server_is_refused() {
    for (keys, expected) in [
        ("", "needs url, or command"),
        ("url = 'https://a.example/'\ncommand = ['a']", "two servers"),
        ("url = 'http://a.example/mcp'", "plaintext = true"),
        ("url = 'http://169.254.169.254/mcp'\nplaintext = true", "link-local"),
        ("url = 'https://u:p@a.example/mcp'", "must not hold a user"),
        ("url = 'https://a.example/mcp?key=1'", "no ? and #"),
        ("url = 'ftp://a.example/mcp'", "must be https"),
        ("url = 'https://a.example/mcp'\nenv = ['DOCS_KEY']", "env"),
        ("command = ['a']\ntoken_env = 'DOCS_KEY'", "token_env"),
        ("command = []", "command needs the program"),
        ("command = ['a']\nenv = ['NONE']", "NONE, which is not set"),
        ("command = ['a']\ntools = { a = 'A-b' }", "under which a is offered"),
        ("command = ['a']\ntools = { a = 'c', b = 'c' }", "two tools would be called c"),
        ("command = ['a']\nread = 'all'", "read"),
    ] {
        let error = refused(&format!("[providers.docs]\nkind = 'mcp'\n{keys}"));
        assert!(error.contains(expected), "{keys}: {error}");
    }
    let host = "[providers.shop]\nkind = 'host'\ntoken_env = 'SHOP_TOKEN'\n";
    for key in [
        "url = 'https://a.example/'",
        "command = ['a']",
        "env = ['DOCS_KEY']",
        "read = ['*']",
        "plaintext = true",
    ] {
        let name = key.split(' ').next().expect("a key");
        assert!(refused(&format!("{host}{key}")).contains(name), "{key}");
    }
    let shared =
        format!("{host}[providers.docs]\nkind = 'mcp'\nurl = 'https://a.example/'\ntoken_env = 'SHOP_TOKEN'");
    assert!(refused(&shared).contains("another provider"));
}

#[test]
fn hosts_may_have_a_token_a_workload_or_both() {
    let file = "[auth]\ntrusted_proxies = ['::1']\n[providers.bank]\nkind = 'host'\nspiffe = 'spiffe://a/bank'\n\
                [providers.shop]\nkind = 'host'\nspiffe = 'spiffe://a/*/shop'\ntoken_env = 'SHOP_TOKEN'";
    let loaded =
        testing::load_text(file, &TOKENS, Flags::default(), &[]).expect("good").for_server().expect("set");
    let providers = &loaded.config.providers;
    assert_eq!(providers.host_tokens().map(|it| it.0).collect::<Vec<_>>(), ["shop"]);
    let workloads: Vec<_> = providers.host_workloads().map(|(name, id)| (name, id.as_str())).collect();
    assert_eq!(workloads, [("bank", "spiffe://a/bank"), ("shop", "spiffe://a/*/shop")]);
    assert!(testing::load_text(&print(&loaded), &TOKENS, Flags::default(), &[]).is_ok());
}

/// Providers whose hosts present tokens of the issuer `corp`.
fn by_claims(providers: &str) -> String {
    format!(
        "[[auth.issuers]]\nname = 'corp'\nissuer = 'https://login.example'\naudience = ['toolwire']\n{providers}"
    )
}

#[test]
fn hosts_may_present_tokens_of_an_issuer_with_claims_of_their_own() {
    let file = by_claims(
        "[providers.bank]\nkind = 'host'\nissuer = 'corp'\nclaim = { sub = 'bank', realm.env = 'prod' }\n\
         [providers.shop]\nkind = 'host'\nissuer = 'corp'\nclaim = { 'sub' = 'shop' }\ntoken_env = 'SHOP_TOKEN'\n",
    );
    let loaded = testing::load_text(&file, &TOKENS, Flags::default(), &[]).expect("good");
    let shown = |providers: &Providers| -> Vec<String> {
        let of_host = |it: &HostClaims| {
            let claims = it.claims.iter().map(|(path, text)| format!("{}={text}", path.as_str()));
            format!("{} {}: {}", it.provider, it.issuer, claims.collect::<Vec<_>>().join(" "))
        };
        providers.host_claims().map(of_host).collect()
    };
    let providers = &loaded.config.providers;
    assert_eq!(shown(providers), ["bank corp: realm.env=prod sub=bank", "shop corp: sub=shop"]);
    assert_eq!(shown(&read(&print(&loaded))), shown(providers));
}

#[test]
fn what_is_wrong_with_the_claims_of_hosts_is_refused() {
    let host = |rest: &str| by_claims(&format!("[providers.shop]\nkind = 'host'\n{rest}\n"));
    let two = |own: &str, other: &str| {
        let bank = format!("[providers.bank]\nkind = 'host'\nissuer = 'corp'\nclaim = {other}\n");
        by_claims(&format!("{bank}[providers.shop]\nkind = 'host'\nissuer = 'corp'\nclaim = {own}\n"))
    };
    for (file, words) in [
        (host(""), "token_env is missing; add it, or spiffe"),
        (host("issuer = 'corp'"), "claim is missing: without it every token of the issuer would be a host's"),
        (host("claim = { sub = 'a' }"), "claim is of tokens of an issuer; add issuer with its name"),
        (
            host("issuer = 'crop'\nclaim = { sub = 'a' }"),
            "\"crop\", which [[auth.issuers]] does not; add it there",
        ),
        (host("issuer = 'corp'\nclaim = {}"), "claim must name at least one claim"),
        (host("issuer = 'corp'\nclaim = 'sub'"), "expected a table [providers.shop.claim]"),
        (host("issuer = 'corp'\nclaim = { sub = '' }"), "sub must equal a text that is not empty"),
        (host("issuer = 'corp'\nclaim = { sub = 7 }"), "sub must equal a text that is not empty"),
        (host("issuer = 'corp'\nclaim = { groups = ['a'] }"), "groups must equal a text"),
        (host("issuer = 'corp'\nclaim = { a = {} }"), "a must equal a text"),
        (host("issuer = 'corp'\nclaim = { 'a..b' = 'c' }"), "\"a..b\": expected the name of a claim"),
        (host("issuer = 7\nclaim = { sub = 'a' }"), "expected a text in quotes"),
        (two("{ sub = 'a' }", "{ sub = 'a' }"), "claim fits tokens of hosts of bank too"),
        (two("{ sub = 'a', b = 'c' }", "{ sub = 'a' }"), "claim fits tokens of hosts of bank too"),
        (two("{ sub = 'a' }", "{ azp = 'b' }"), "give both the same claim, with different texts"),
    ] {
        let error = refused(&file);
        assert!(error.contains(words), "{file}: {error}");
        assert!(error.contains("providers.shop"), "{file}: {error}");
    }
    let apart = two("{ sub = 'a', b = 'c' }", "{ sub = 'a', b = 'd' }");
    assert!(testing::load_text(&apart, &TOKENS, Flags::default(), &[]).is_ok(), "{apart}");
    let of_mcp = by_claims("[providers.docs]\nkind = 'mcp'\nurl = 'https://a.example/'\nissuer = 'corp'\n");
    assert!(refused(&of_mcp).contains("issuer"));
    // What is of an issuer whose entry is wrong is no further problem.
    let error =
        refused(&host("issuer = 'corp'\nclaim = { sub = 'a' }").replace("audience = ['toolwire']\n", ""));
    assert!(error.lines().count() == 1 && error.contains("audience"), "{error}");
}

#[test]
fn hosts_of_a_workload_need_no_certificate_where_its_trust_domain_signs_tokens() {
    let domain = "[[auth.trust_domains]]\nname = 'example.org'\naudience = ['toolwire']\n\
                  jwks_url = 'https://spire.example/keys'\n";
    let host = "[providers.shop]\nkind = 'host'\nspiffe = 'spiffe://example.org/shop'\n";
    let loaded =
        testing::load_text(&format!("{domain}{host}"), &TOKENS, Flags::default(), &[]).expect("good");
    assert_eq!(loaded.warnings, []);
    assert!(
        refused(&format!("{domain}{}", host.replace("example.org", "example.com")))
            .contains("no client is asked")
    );
}
