//! Scopes that a client requests so that its token does for a tool.

use std::collections::BTreeSet;

use super::{Auth, Decision, Right, RuleTarget};
use toolwire_identity::Resource;
use toolwire_tool::context::{KnownBy, User};

/// Maximum number of a token's own scopes that are requested again with one that is missing.
const MAX_REPEATED: usize = 16;

impl Auth {
    /// The scopes to request, separated by spaces, so that a token of the user may call a tool that the present one
    /// may not: the one that is missing, after those that the token has of the ones that rules demand or that bind it
    /// to toolsets, so that a client that requests these loses none and stays bound. `None` if no scope would do, or
    /// the user presents no token of an issuer.
    pub fn scope_to_call(&self, user: &User, tool: RuleTarget<'_>) -> Option<String> {
        if user.known_by != KnownBy::Issuer {
            return None;
        }
        let Decision::LacksScope { scope: missing, .. } = self.decide(user, Right::Call, tool) else {
            return None;
        };
        let own = user.grant.as_deref().map_or(&[][..], |grant| &grant.scopes);
        let demanded: BTreeSet<_> = self.rules.iter().filter_map(|rule| rule.scope.as_deref()).collect();
        let binds = |scope: &str| Resource::toolset_of_scope(scope).is_some_and(|named| named.is_ok());
        let is_kept = |scope: &&str| demanded.contains(scope) || binds(scope);
        let kept: BTreeSet<_> = own.iter().map(String::as_str).filter(is_kept).collect();
        let scopes = kept.into_iter().take(MAX_REPEATED).chain([missing]);
        Some(scopes.collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::tests::{CORP, auth, user},
        *,
    };

    #[test]
    fn the_scope_that_would_do_is_named_with_those_that_the_token_keeps() {
        let rule = |tools: &str, rest: &str| {
            format!("[[auth.rules]]\nwho = ['group:corp/support']\ntools = ['{tools}']\n{rest}\n")
        };
        let rules = [
            rule("shop_*", "scope = 'shop'"),
            rule("pay_*", "scope = 'pay'"),
            rule("get_*", ""),
            rule("pay_all", "effect = 'deny'"),
            rule("approve_*", "scope = 'pay'\nmay = ['approve']"),
        ];
        let auth = auth(&format!("{CORP}{}", rules.concat()));
        let of = |groups: &[&str], scopes: &[&str], tool: &str| {
            let user = user("corp:1", groups, scopes).with_known_by(KnownBy::Issuer);
            auth.scope_to_call(&user, RuleTarget::named(tool))
        };
        let support = &["corp/support"][..];
        assert_eq!(of(support, &[], "shop_list").as_deref(), Some("shop"));
        assert_eq!(of(support, &["openid", "shop"], "pay_now").as_deref(), Some("shop pay"));
        // Bound to a toolset, it stays so.
        let bound = ["tools:desk", "tools:\"", "shop"];
        assert_eq!(of(support, &bound, "pay_now").as_deref(), Some("shop tools:desk pay"));
        for (groups, scopes, tool) in [
            (support, &["shop"][..], "shop_list"),
            (support, &[], "get_quotes"),
            (support, &[], "other"),
            (support, &[], "pay_all"),
            (support, &[], "approve_all"),
            (&[], &[], "shop_list"),
        ] {
            assert_eq!(of(groups, scopes, tool), None, "{scopes:?} {tool}");
        }
        // Of a static token or a certificate no scope is requested.
        let other = user("corp:1", support, &[]).with_known_by(KnownBy::Certificate);
        assert_eq!(auth.scope_to_call(&other, RuleTarget::named("shop_list")), None);
    }
}
