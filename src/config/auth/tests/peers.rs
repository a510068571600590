//! Rules about the workload whose certificate brought a request.

use toolwire_tool::context::{KnownBy, User};

use super::{CORP, MESH, auth, loaded, user};
use crate::{Right, RuleTarget, print};

const AGENT: &str = "spiffe://example.org/ns/shop/sa/agent";

/// The same user, whose request came by the certificate of this workload.
fn by(workload: &str, user: User) -> User {
    User { workload: Some(workload.into()), ..user }
}

fn rule(who: &str, rest: &str) -> String {
    format!("[[auth.rules]]\nwho = ['{who}']\ntools = ['shop_*']\n{rest}\n")
}

#[test]
fn a_rule_via_a_workload_holds_where_its_certificate_brought_the_request() {
    let via = "via = ['spiffe:example.org/ns/*/sa/agent']";
    let read = loaded(&format!("{MESH}{CORP}{}", rule("group:corp/support", via))).unwrap();
    let printed = print(&read);
    assert!(printed.contains("via = [\"spiffe:example.org/ns/*/sa/agent\"]"), "{printed}");
    assert!(loaded(&printed).is_ok(), "{printed}");
    let may = |user: &User| read.config.auth.may(user, Right::Call, RuleTarget::named("shop_list"));
    let support = || user("corp:1", &["corp/support"], &[]);
    assert!(may(&by(AGENT, support())));
    assert!(!may(&support()), "without a certificate");
    for other in ["spiffe://example.org/ns/shop/sa/other", "spiffe://example.com/ns/shop/sa/agent"] {
        assert!(!may(&by(other, support())), "{other}");
    }
    assert!(!may(&by(AGENT, user("corp:1", &[], &[]))), "the certificate alone gives nothing");
}

#[test]
fn a_workload_of_a_rule_is_the_user_of_its_certificate_and_of_no_token() {
    for who in ["spiffe:example.org/ns/*/sa/agent", "spiffe://example.org/ns/*/sa/agent"] {
        let auth = auth(&format!("{MESH}{CORP}{}", rule(who, "")));
        assert_eq!(auth.rules[0].who[0].to_string(), "spiffe:example.org/ns/*/sa/agent");
        let may = |user: &User| auth.may(user, Right::Call, RuleTarget::named("shop_list"));
        let agent = user("agent", &[], &[]).with_known_by(KnownBy::Certificate);
        assert!(may(&by(AGENT, agent.clone())));
        assert!(!may(&by("spiffe://example.org/ns/shop/sa/other", agent)));
        // The certificate proves the peer of a token's user, who has no right by it.
        assert!(!may(&by(AGENT, user("corp:1", &[], &[]).with_known_by(KnownBy::Issuer))));
        assert!(!may(&by(AGENT, user("agent", &[], &[]).with_known_by(KnownBy::Token))));
    }
}

#[test]
fn what_is_no_workload_is_refused_at_its_line() {
    for (who, rest, words) in [
        ("spiffe:x", "", "\"spiffe:x\" names no workload: expected a SPIFFE id"),
        ("spiffe:*/ns/a", "", "names no workload"),
        ("spiffe:example.org/ns/a*", "", "names no workload"),
        ("spiffe:////a", "", "names no workload"),
        ("spiffe:", "", "names no workload"),
        ("spiffe:example.org/ns/shop/sa/other", "", "matches no id of [[auth.spiffe]]"),
        ("user:agent", "via = []", "via must name at least one workload"),
        ("user:agent", "via = ['user:agent']", "via: \"user:agent\" must begin with spiffe:"),
        ("user:agent", "via = ['example.org/ns/a']", "must begin with spiffe:"),
        ("user:agent", "via = ['spiffe:x']", "via: \"spiffe:x\" names no workload"),
        ("user:agent", "via = 'spiffe:example.org/a'", "expected a list"),
        (
            "user:agent",
            "via = ['spiffe:example.org/a']\neffect = 'deny'",
            "a client would come without the certificate",
        ),
    ] {
        let error = loaded(&format!("{MESH}{}", rule(who, rest))).unwrap_err();
        assert!(error.contains(words), "{who} {rest}: {error}");
        assert!(error.contains(": auth.rules.0"), "{who} {rest}: {error}");
    }
    let via = rule("group:corp/support", "via = ['spiffe:example.org/a']");
    let unasked = loaded(&format!("{CORP}{via}")).unwrap_err();
    assert!(unasked.contains("auth.rules.0: via wants a certificate, and no client is asked"), "{unasked}");
}
