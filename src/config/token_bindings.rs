//! What settings of several sections must say together where tokens are bound to toolsets, by a scope or an audience.
//!
//! Not here: what a token is bound to.

use super::{Auth, Http, Problem, Toolsets, reader::Reader};
use toolwire_identity::Resource;

/// Refuses scopes and audiences of toolsets that there are not: their tokens would have no tools.
pub(super) fn check(reader: &mut Reader, auth: &Auth, toolsets: &Toolsets, http: &Http) {
    for rule in &auth.rules {
        let Some(scope) = &rule.scope else { continue };
        let Some(named) = Resource::toolset_of_scope(scope) else { continue };
        if named.ok().is_none_or(|name| toolsets.get(&name).is_none()) {
            let what = format!(
                "scope {scope} binds its token to a toolset that is not in [toolsets]; add it, or take a scope that does \
                 not begin with tools:"
            );
            reader.problems.push(Problem::new(rule.at.clone(), what));
        }
    }
    let resource = Resource::new(http.public_url.as_ref().map(|url| format!("{url}/mcp")), []);
    let of_issuers = auth.issuers.iter().map(|it| ("auth.issuers", &it.tokens));
    let of_domains = auth.trust_domains.iter().map(|it| ("auth.trust_domains", &it.tokens));
    for (key, tokens) in of_issuers.chain(of_domains) {
        for audience in &tokens.audience {
            let named = resource.toolset_of_audience(audience);
            if named.is_some_and(|name| toolsets.get(&name).is_none()) {
                let what = format!(
                    "audience {audience} binds its tokens to a toolset that is not in [toolsets]; add it, or remove \
                     the audience: those of toolsets need not be listed"
                );
                reader.problem(key, what);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Flags, testing::load_text};

    const FILE: &str = "[http]\npublic_url = 'https://tools.example'\n[toolsets.shop]\ntools = ['shop_*']\n\
                        [[auth.issuers]]\nname = 'corp'\nissuer = 'https://login.example'\n";

    fn load(audience: &str, scope: &str) -> Result<(), String> {
        let rule = format!("[[auth.rules]]\nwho = ['group:corp/a']\ntools = ['*']\nscope = '{scope}'\n");
        let file = format!("{FILE}audience = ['{audience}']\n{rule}");
        load_text(&file, &[], Flags::default(), &[]).map(|_| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_scope_or_an_audience_of_a_toolset_that_there_is_not_is_refused() {
        let (whole, shop) = ("https://tools.example/mcp", "https://tools.example/mcp/shop");
        for (audience, scope) in [(whole, "tools"), (shop, "tools:shop"), ("toolwire", "shop:read")] {
            assert_eq!(load(audience, scope), Ok(()), "{audience} {scope}");
        }
        for scope in ["tools:shpo", "tools:", "tools:Shop"] {
            let error = load(whole, scope).unwrap_err();
            assert!(error.contains(&format!("auth.rules.0: scope {scope} binds its token")), "{error}");
        }
        let error = load("https://tools.example/mcp/shpo", "tools").unwrap_err();
        assert!(error.contains("auth.issuers: audience https://tools.example/mcp/shpo binds"), "{error}");
    }
}
