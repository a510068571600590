//! Issuers and rules as files have them: what is read, what is refused, and who may what.

use std::sync::Arc;

use toolwire_tool::context::{Grant, KnownBy, User};

use super::{Auth, Decision, Right, RuleTarget, TargetFacts, ToolCategory};
use crate::{Consequence, Flags, Loaded, print, testing};

mod denials;
mod peers;
mod toolsets;
mod trust_domains;

pub(super) const CORP: &str =
    "[[auth.issuers]]\nname = 'corp'\nissuer = 'https://login.example'\naudience = ['toolwire']\n";
pub(super) const RILEY: &str = "[[auth.users]]\nuser_id = 'riley'\ntoken = 's3cret-token-of-riley'\n";

fn loaded(file: &str) -> Result<Loaded, String> {
    testing::load_text(file, &[], Flags::default(), &[]).map_err(|error| error.to_string())
}

pub(super) fn auth(file: &str) -> Auth {
    loaded(file).unwrap().config.auth
}

/// A user of the issuer with these groups and scopes.
pub(super) fn user(id: &str, groups: &[&str], scopes: &[&str]) -> User {
    let owned = |all: &[&str]| all.iter().map(|&it| it.to_owned()).collect();
    let grant = Grant { groups: owned(groups), scopes: owned(scopes), ends_at: None, acceptance: None };
    User { grant: Some(Arc::new(grant)), ..User::new(id.parse().unwrap()) }
}

#[test]
fn an_issuer_needs_three_lines_and_is_printed_with_its_defaults() {
    let loaded = loaded(CORP).unwrap();
    let [issuer] = &loaded.config.auth.issuers[..] else { panic!("one") };
    assert_eq!(
        (issuer.name.as_str(), issuer.user.as_str(), issuer.tokens.max_life.as_secs()),
        ("corp", "sub", 6_000)
    );
    assert!(!loaded.config.auth.is_open());
    let printed = print(&loaded);
    for line in ["[[auth.issuers]]", "algorithms = [\"RS256\",\"ES256\",\"EdDSA\"]", "max_life = \"100m\""] {
        assert!(printed.contains(line), "{line} in {printed}");
    }
}

#[test]
fn a_wrong_issuer_is_refused_with_what_to_write() {
    for (more, words) in [
        (CORP, "name is that of an earlier entry"),
        (&CORP.replace("'corp'", "'other'")[..], "issuer is that of an earlier entry"),
        ("algorithms = ['HS256']", "algorithms must be of RS256"),
        ("algorithms = ['none']", "algorithms must be of RS256"),
        ("algorithms = []", "algorithms must name at least one"),
        ("user = 'a..b'", "user: expected the name of a claim"),
        ("groups = ''", "groups: expected the name of a claim"),
        ("max_life = '0s'", "max_life must be more than zero"),
        ("jwks_url = 'http://login.example/keys'", "jwks_url must be https://"),
        ("jwks_url = 'https://169.254.169.254/keys'", "jwks_url must not be a link-local address"),
        ("jwks_url = 'https://localhost/a'\njwks_file = 'b'", "not both"),
        ("jwks_file = '/nowhere/keys.json'", "jwks_file: /nowhere/keys.json cannot be read: No such file"),
        ("jwks_file = '/'", "jwks_file: / cannot be read"),
        ("jwks_file = 'Cargo.toml'", "jwks_file: Cargo.toml is no JSON"),
        ("secret = 'x'", "unknown setting"),
        (&RILEY.replace("riley'\n", "a:b'\n")[..], "a:b holds a colon"),
    ] {
        let error = loaded(&format!("{CORP}{more}")).unwrap_err();
        assert!(error.contains(words), "{more}: {error}");
    }
    for (issuer, words) in [
        (CORP.replace("'corp'", "'Corp'"), "name must be of a-z"),
        (CORP.replace("'corp'", "'a:b'"), "name must be of a-z"),
        (CORP.replace("['toolwire']", "[]"), "audience must name at least one"),
        (CORP.replace("https://login.example", "kubernetes"), "or say where its keys are by jwks_url"),
        (CORP.replace("https:", "http:"), "issuer must be https://"),
    ] {
        let error = loaded(&issuer).unwrap_err();
        assert!(error.contains(words), "{issuer}: {error}");
    }
}

#[test]
fn the_keys_of_a_file_are_read_with_the_settings() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys.json");
    let with = |more: &str| loaded(&format!("{CORP}jwks_file = '{}'\n{more}", path.display()));
    assert!(with("").unwrap_err().contains("cannot be read"));
    for (text, words) in [
        ("{}", "no JSON Web Key Set"),
        ("{\"keys\": []}", "none of the keys can be used"),
        ("[", "is no JSON"),
    ] {
        std::fs::write(&path, text).unwrap();
        assert!(with("").unwrap_err().contains(words), "{text}");
    }
    let key =
        r#"{"kty": "OKP", "crv": "Ed25519", "kid": "k", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
    std::fs::write(&path, format!("{{\"keys\": [{key}]}}")).unwrap();
    with("").unwrap();
    assert!(with("ca = 'ca.pem'").unwrap_err().contains("for keys that are fetched"));
}

#[test]
fn users_of_issuers_may_nothing_until_a_rule_says_so_and_deny_wins() {
    let rules = "[[auth.rules]]\nwho = ['group:corp/support', 'user:corp:8f2c']\ntools = ['shop_*']\n\
                 [[auth.rules]]\nwho = ['group:corp/leavers']\ntools = ['*']\neffect = 'deny'\n\
                 [[auth.rules]]\nwho = ['group:corp/leads']\ntools = ['*']\nmay = ['approve', 'observe']\n\
                 [[auth.rules]]\nwho = ['group:corp/support']\ntools = ['get_*']\nscope = 'tools'\n";
    let auth = auth(&format!("{CORP}{RILEY}{rules}"));
    let named = |name: &'static str| RuleTarget::named(name);
    let may = |user: &User, tool: &'static str| auth.may(user, Right::Call, named(tool));
    let nobody = user("corp:1", &[], &[]);
    assert_eq!(auth.decide(&nobody, Right::Call, named("shop_list")), Decision::NotAllowed);
    assert!(!auth.may_call_all(&nobody) && !auth.may_some(&nobody, Right::Call));
    let (by_group, by_id) = (user("corp:1", &["corp/support"], &[]), user("corp:8f2c", &[], &[]));
    for of_shop in [&by_group, &by_id] {
        assert!(may(of_shop, "shop_list") && !may(of_shop, "get_quotes"));
        assert!(!auth.may_call_all(of_shop) && !auth.may(of_shop, Right::Approve, named("shop_list")));
    }
    assert!(may(&user("corp:1", &["corp/support"], &["tools"]), "get_quotes"), "with the scope");
    let left = user("corp:8f2c", &["corp/support", "corp/leavers", "corp/leads"], &["tools"]);
    for right in Right::ALL {
        assert!(
            matches!(auth.decide(&left, right, named("shop_list")), Decision::Denied(at) if at.ends_with("auth.rules.1"))
        );
        assert!(!auth.may_some(&left, right) && !auth.may_call_all(&left));
    }
    let lead = user("corp:2", &["corp/leads"], &[]);
    assert!(
        auth.may(&lead, Right::Approve, named("x"))
            && auth.may_some(&lead, Right::Observe)
            && !may(&lead, "x")
    );
    // Alike, and somebody else: of another issuer, a group as a user, a static user.
    for alike in ["other:8f2c", "8f2c", "corp/8f2c", "corp:8F2C"] {
        assert!(!may(&user(alike, &[], &[]), "shop_list"), "{alike}");
    }
    for group in ["other/support", "support", "corp/Support", "corp:support"] {
        assert!(!may(&user("corp:1", &[group], &[]), "shop_list"), "{group}");
    }
    // Riley's rights are as they were.
    assert!(auth.may_call_all(&User::new("riley".parse().unwrap())));
}

#[test]
fn a_user_is_known_while_what_made_the_caller_one_is_configured() {
    let riley = user("riley", &[], &[]).with_known_by(KnownBy::Token);
    let rule = "[[auth.rules]]\nwho = ['user:riley']\ntools = ['*']\n";
    let without = auth(&format!("{}{rule}", RILEY.replace("riley", "alex")));
    assert!(auth(RILEY).knows(&riley));
    assert!(!without.knows(&riley) && without.may_call_all(&riley), "a rule makes nobody a user");
    let of_corp = user("corp:1", &[], &[]).with_known_by(KnownBy::Issuer);
    assert!(!auth(CORP).knows(&of_corp), "by no token");
    let accepted = |audiences: &[&str]| {
        let audiences: Vec<_> = audiences.iter().map(|&it| it.to_owned()).collect();
        let acceptance = Some(auth(CORP).issuers[0].acceptance(&audiences));
        let grant = Grant { groups: Vec::new(), scopes: Vec::new(), ends_at: None, acceptance };
        User { grant: Some(Arc::new(grant)), ..of_corp.clone() }
    };
    // The audience is one that the issuer lists, or this server itself.
    let (listed, own) = (accepted(&["else", "toolwire"]), accepted(&[]));
    for (file, knows_listed, knows_own) in [
        (CORP.to_owned(), true, true),
        (format!("{CORP}email = 'mail'\n"), true, true),
        (CORP.replace("'toolwire'", "'more', 'toolwire'"), true, true),
        (CORP.replace("'toolwire'", "'more'"), false, true),
        (CORP.replace("login.example", "login.test"), false, false),
        (CORP.replace("'corp'", "'other'"), false, false),
        (format!("{CORP}jwks_url = 'https://login.example/keys'\n"), false, false),
        (format!("{CORP}algorithms = ['RS256']\n"), false, false),
        (format!("{CORP}max_life = '2h'\n"), false, false),
        (format!("{CORP}user = 'oid'\n"), false, false),
        (format!("{CORP}groups = 'roles'\n"), false, false),
        (RILEY.to_owned(), false, false),
    ] {
        let auth = auth(&file);
        assert_eq!((auth.knows(&listed), auth.knows(&own)), (knows_listed, knows_own), "{file}");
    }
    let mesh = |id: &str, groups: &str| {
        let entry = format!("[[auth.spiffe]]\nid = 'spiffe://example.org/{id}'\nuser = 'agent'\n");
        auth(&format!("{MESH}{entry}groups = {groups}\n"))
    };
    let agent = user("agent", &["agents"], &[]).with_known_by(KnownBy::Certificate);
    let agent = User { workload: Some("spiffe://example.org/a".into()), ..agent };
    assert!(mesh("*", "['agents', 'more']").knows(&agent));
    assert!(!mesh("a", "['more']").knows(&agent) && !mesh("b", "['agents']").knows(&agent));
}

#[test]
fn who_no_id_can_hold_is_found_by_the_same_digest_as_in_tokens() {
    let rule = "[[auth.rules]]\nwho = ['group:corp/Domain Users', 'user:corp:Zoë']\ntools = ['*']\n";
    let auth = auth(&format!("{CORP}{rule}"));
    let group = toolwire_identity::group_id("corp", "Domain Users");
    assert!(auth.may_call_all(&user("corp:1", &[&group], &[])));
    let zoe = toolwire_identity::user_id("corp", "Zoë");
    assert!(auth.may_call_all(&user(zoe.as_str(), &[], &[])));
}

#[test]
fn who_is_recorded_by_a_digest_is_denied_by_that_id() {
    let zoe = toolwire_identity::user_id("corp", "Zoë");
    let group = toolwire_identity::group_id("corp", "Domain Users");
    for who in [format!("user:{zoe}"), format!("group:{group}")] {
        let rule = format!("[[auth.rules]]\nwho = ['{who}']\ntools = ['*']\neffect = 'deny'\n");
        let auth = self::auth(&format!("{CORP}{rule}"));
        let decision = auth.decide(&user(zoe.as_str(), &[&group], &[]), Right::Call, RuleTarget::named("a"));
        assert!(matches!(decision, Decision::Denied(_)), "{who}");
    }
}

#[test]
fn a_wrong_rule_is_refused_with_what_to_write() {
    let rule = |rest: &str| format!("{CORP}{RILEY}[[auth.rules]]\n{rest}");
    for (wrong, words) in [
        ("tools = ['*']", "who is missing"),
        ("who = ['user:riley']", "tools is missing"),
        ("who = ['user:riley']\ntags = []", "tags must name at least one"),
        (
            "who = ['user:riley']\ncategory = ['harmless']",
            "category must be of read, write, delete, side_effect",
        ),
        ("who = ['user:riley']\ncategory = []", "category must name at least one"),
        (
            "who = ['user:riley']\nconsequence_at_most = 'none'",
            "consequence_at_most must be of low, medium, high",
        ),
        (
            "who = ['user:riley']\nconsequence_at_most = 'low'\neffect = 'deny'",
            "deny the less harmful tools alone",
        ),
        ("who = ['user:riley']\ntools = ['*']\ntags = ['x']\nmay = ['observe']", "observe is of all tools"),
        // A claim that nothing reads.
        ("who = ['user:riley']\ntools = ['*']\nclaim = 'department'", "unknown setting"),
        ("who = ['claim:department=sales']\ntools = ['*']", "who must be user:…, group:… or spiffe:…"),
        // Letters that look like others.
        ("who = ['user:r\u{456}ley']\ntools = ['*']", "visible ASCII"),
        ("who = ['user:a b']\ntools = ['*']", "visible ASCII"),
        ("who = ['user:riley']\ntools = ['sh\u{43e}p_*']", "expected a tool name or a pattern"),
        ("who = []\ntools = ['*']", "who must name at least one"),
        ("who = ['riley']\ntools = ['*']", "who must be user:…, group:… or spiffe:…"),
        ("who = ['user:']\ntools = ['*']", "names no user"),
        ("who = ['group:support']\ntools = ['*']", "names no group of [[auth.spiffe]]"),
        ("who = ['group:']\ntools = ['*']", "names no group"),
        ("who = ['group:crop/support']\ntools = ['*']", "of an issuer that [[auth.issuers]] does not name"),
        ("who = ['user:crop:1']\ntools = ['*']", "of an issuer that [[auth.issuers]] does not name"),
        ("who = ['user:riley']\ntools = []", "tools must name at least one"),
        (
            "who = ['user:riley']\ntools = ['*']\nmay = ['own']",
            "may must be of call, approve, observe, read_records",
        ),
        ("who = ['user:riley']\ntools = ['*']\nmay = []", "may must name at least one"),
        ("who = ['user:riley']\ntools = ['*']\neffect = 'no'", "effect must be allow or deny"),
        (
            "who = ['user:riley']\ntools = ['*']\neffect = 'deny'\nscope = 'x'",
            "a client would leave the scope out",
        ),
        ("who = ['user:riley']\ntools = ['*']\nscope = 'a b'", "scope must be one word"),
        ("who = ['user:riley']\ntools = ['*']\nscope = 'tööls'", "scope must be one word"),
        ("who = ['user:riley']\ntools = ['*']\nscope = 'a\"'", "scope must be one word"),
        ("who = ['user:riley']\ntools = ['a']\nmay = ['observe']", "observe is of all tools"),
        ("who = ['user:riley']\ntools = ['*']\ntag = ['x']", "unknown setting"),
    ] {
        let error = loaded(&rule(wrong)).unwrap_err();
        assert!(error.contains(words), "{wrong}: {error}");
    }
    let alone = loaded("[[auth.rules]]\nwho = ['user:riley']\ntools = ['*']").unwrap_err();
    assert!(alone.contains("there is nobody whom a rule could be for"), "{alone}");
    let [warning] = &loaded(&rule("who = ['user:rilley']\ntools = ['*']")).unwrap().warnings[..] else {
        panic!("one warning")
    };
    assert!(warning.what.contains("user:rilley is no user"), "{warning}");
}

/// A tool of which this is said.
fn target(tags: &[String], category: ToolCategory, consequence: Consequence) -> RuleTarget<'_> {
    RuleTarget { name: "shop_order", facts: Some(TargetFacts { tags, category, consequence }) }
}

#[test]
fn a_rule_by_tags_category_and_consequence_holds_where_all_of_them_do() {
    use Consequence::{High, Low, Medium};
    use ToolCategory::{Delete, Read, SideEffect, Write};

    let rule = "[[auth.rules]]\nwho = ['group:corp/support']\ntags = ['shop', 'desk']\n\
                category = ['read', 'write']\nconsequence_at_most = 'medium'\n";
    let loaded = loaded(&format!("{CORP}{rule}")).unwrap();
    let printed = print(&loaded);
    for line in ["tags = [\"shop\",\"desk\"]", "category = [\"read\",\"write\"]", "tools = [\"*\"]"] {
        assert!(printed.contains(line), "{line} in {printed}");
    }
    let (auth, support) = (loaded.config.auth, user("corp:1", &["corp/support"], &[]));
    let may = |tags: &[&str], category, consequence| {
        let tags: Vec<_> = tags.iter().map(|&it| it.to_owned()).collect();
        auth.may(&support, Right::Call, target(&tags, category, consequence))
    };
    for (tags, category, consequence) in
        [(&["shop"][..], Read, Low), (&["x", "desk"][..], Write, Medium), (&["shop", "desk"][..], Write, Low)]
    {
        assert!(may(tags, category, consequence), "{tags:?} {category:?} {consequence:?}");
    }
    for (tags, category, consequence) in [
        (&[][..], Read, Low),
        (&["Shop"][..], Read, Low),
        (&["shop"][..], Delete, Low),
        (&["shop"][..], SideEffect, Low),
        (&["shop"][..], Read, High),
    ] {
        assert!(!may(tags, category, consequence), "{tags:?} {category:?} {consequence:?}");
    }
    assert!(!auth.may_call_all(&support) && auth.may_some(&support, Right::Call));
}

#[test]
fn of_a_tool_that_is_not_offered_a_rule_by_more_than_the_name_allows_nothing_and_denies() {
    let riley = User::new("riley".parse().unwrap());
    let read = [ToolCategory::Read, ToolCategory::Delete].map(|it| target(&[], it, Consequence::Low));
    let decide = |rule: &str| {
        let auth = auth(&format!("{RILEY}tools = []\n[[auth.rules]]\nwho = ['user:riley']\n{rule}"));
        let named = RuleTarget::named("shop_order");
        [read[0], read[1], named].map(|it| auth.may(&riley, Right::Call, it))
    };
    assert_eq!(decide("category = ['read']"), [true, false, false]);
    let deny = "tools = ['*']\n[[auth.rules]]\nwho = ['user:riley']\neffect = 'deny'\ncategory = ['delete']";
    // Denied in the same words as the one that is there.
    assert_eq!(decide(deny), [true, false, false]);
}

#[test]
fn a_user_and_a_group_of_one_name_are_two() {
    let file = format!(
        "{CORP}[[auth.users]]\nuser_id = 'corp/support'\ntoken = 'an0ther-token-of-it'\ntools = []\n\
         [[auth.rules]]\nwho = ['group:corp/support']\ntools = ['for_group']\n\
         [[auth.rules]]\nwho = ['user:corp/support']\ntools = ['for_user']\n\
         [[auth.rules]]\nwho = ['user:corp:support']\ntools = ['for_user_of_issuer']\n"
    );
    let auth = auth(&file);
    let may = |user: &User| {
        let names = ["for_group", "for_user", "for_user_of_issuer"];
        names.map(|name| auth.may(user, Right::Call, RuleTarget::named(name)))
    };
    assert_eq!(may(&user("corp:1", &["corp/support"], &[])), [true, false, false]);
    assert_eq!(may(&User::new("corp/support".parse().unwrap())), [false, true, false]);
    assert_eq!(may(&user("corp:support", &[], &[])), [false, false, true]);
}

#[test]
fn reading_others_records_is_a_right_of_its_own_and_part_of_observing_of_users_of_the_file() {
    let rules = "[[auth.rules]]\nwho = ['group:corp/desk']\ntools = ['*']\nmay = ['observe']\n\
                 [[auth.rules]]\nwho = ['group:corp/audit']\ntools = ['shop_*']\nmay = ['read_records']\n";
    let auth = auth(&format!("{CORP}{RILEY}observe = true\n{rules}"));
    let may = |user: &User, tool| auth.may(user, Right::ReadRecords, RuleTarget::named(tool));
    assert!(!may(&user("corp:1", &["corp/desk"], &[]), "shop_order"));
    let both = user("corp:1", &["corp/desk", "corp/audit"], &[]);
    assert!(may(&both, "shop_order") && !may(&both, "get_quotes"));
    assert!(may(&User::new("riley".parse().unwrap()), "get_quotes"));
}

pub(super) const MESH: &str = "[server.tls]\ncert = 'c'\nkey = 'k'\nclient_ca = 'ca'\nclient_auth = 'required'\n\
                    [[auth.spiffe]]\nid = 'spiffe://example.org/ns/*/sa/agent'\nuser = 'agent'\ngroups = ['agents']\n";

#[test]
fn a_workload_is_a_user_without_rights_until_a_rule_gives_some() {
    let rule = "[[auth.rules]]\nwho = ['group:agents']\ntools = ['shop_*']\n";
    let read = loaded(&format!("{MESH}{rule}")).unwrap();
    assert_eq!(read.warnings, []);
    let auth = &read.config.auth;
    assert!(!auth.is_open());
    let target = RuleTarget::named("shop_list");
    assert!(auth.may(&user("agent", &["agents"], &[]), Right::Call, target));
    for alike in [user("agent", &[], &[]), user("agents", &[], &[]), user("agent", &["corp/agents"], &[])] {
        assert!(!auth.may(&alike, Right::Call, target), "{alike:?}");
    }
    let printed = print(&read);
    for line in
        ["[[auth.spiffe]]", "id = \"spiffe://example.org/ns/*/sa/agent\"", "client_auth = \"required\""]
    {
        assert!(printed.contains(line), "{line} in {printed}");
    }
    assert!(loaded(&printed).is_ok(), "{printed}");
}

#[test]
fn a_wrong_workload_is_refused_with_what_to_write() {
    let entry = |id: &str, rest: &str| format!("{MESH}[[auth.spiffe]]\nid = '{id}'\n{rest}");
    for (file, words) in [
        (entry("spiffe://example.org/ns/shop/sa/agent", "user = 'b'"), "matches ids of an earlier entry too"),
        (entry("spiffe://example.org/*/shop/sa/*", "user = 'b'"), "matches ids of an earlier entry too"),
        (entry("spiffe://*/ns/shop", "user = 'b'"), "id: expected a SPIFFE id"),
        (entry("spiffe://example.org", "user = 'b'"), "id: expected a SPIFFE id"),
        (entry("example.org/ns/shop", "user = 'b'"), "id: expected a SPIFFE id"),
        (entry("spiffe://example.org/b", "user = 'corp:b'"), "user must hold no colon"),
        (entry("spiffe://example.org/b", "user = 'b c'"), "1 to 128 visible ASCII characters"),
        (
            entry("spiffe://example.org/b", "user = 'b'\ngroups = ['corp/agents']"),
            "groups must be visible ASCII",
        ),
        (entry("spiffe://example.org/b", "user = 'b'\ngroups = ['']"), "groups must be visible ASCII"),
        (entry("spiffe://example.org/b", "user = 'b'\ntools = ['*']"), "unknown setting"),
        (entry("spiffe://example.org/b", ""), "user is missing"),
        (format!("{MESH}{}", RILEY.replace("riley'\n", "agent'\n")), "agent is a user of [[auth.users]] too"),
        (
            MESH.replace("client_ca = 'ca'\nclient_auth = 'required'\n", ""),
            "no client is asked for a certificate",
        ),
        (MESH.replace("'required'", "'maybe'"), "expected one of optional, required"),
        (format!("[http]\nlisten = '127.0.0.1:1'\n{MESH}"), "http.allowed_hosts: must name this server"),
        (
            format!("[http]\nlisten = '127.0.0.1:1'\n[auth]\ntrusted_proxies = ['10.0.0.0/8']\n{RILEY}"),
            "http.allowed_hosts: must",
        ),
        (format!("[auth]\ntrusted_proxies = ['10.0.0.0/33']\n{RILEY}"), "expected an address or a network"),
    ] {
        let error = loaded(&file).unwrap_err();
        assert!(error.contains(words), "{file}: {error}");
    }
}

#[test]
fn a_listener_with_a_name_takes_credentials_that_come_by_themselves() {
    for http in ["public_url = 'https://tools.example'", "allowed_hosts = ['tools.example']"] {
        let file = format!("[http]\nlisten = '127.0.0.1:1'\n{http}\n{MESH}");
        assert!(loaded(&file).unwrap().config.has_ambient_credentials());
    }
    assert!(!loaded(RILEY).unwrap().config.has_ambient_credentials());
    // Without users a listener is this machine's alone, by any setting.
    let proxied = "[http]\nlisten = '127.0.0.1:1'\n[auth]\ntrusted_proxies = ['127.0.0.1']";
    assert!(loaded(proxied).unwrap().config.auth.is_open());
}

#[test]
fn what_is_of_an_issuer_whose_entry_is_wrong_is_no_further_problem() {
    let rest = "[[auth.rules]]\nwho = ['group:corp/support', 'user:corp:1']\ntools = ['*']\n\
                [[quota]]\nwho = ['user:corp:1']\nconcurrent = 1\n";
    for (entry, words) in [
        ("name = 'corp'\nissuer = 'https://login.example'", "audience"),
        ("name = 'corp'\nissuer = 'http://login.example'\naudience = ['toolwire']", "issuer"),
        ("issuer = 'https://login.example'\naudience = ['toolwire']", "name"),
        (
            "name = 'corp'\nissuer = 'https://login.example'\naudience = ['toolwire']\ngrops = 'x'",
            "unknown setting",
        ),
    ] {
        let error = loaded(&format!("[[auth.issuers]]\n{entry}\n{rest}")).unwrap_err();
        assert!(error.lines().count() == 1 && error.contains(words), "{entry}: {error}");
    }
    // Another one is a mistake all the same.
    let error = loaded(&format!("[[auth.issuers]]\nname = 'crop'\n{rest}")).unwrap_err();
    assert!(error.contains("\"group:corp/support\" is of an issuer that"), "{error}");
}
