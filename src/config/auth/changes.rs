//! What differs between two readings of `[auth]`: in words for the log, and for one user. No token is shown.

use std::collections::{BTreeMap, BTreeSet};

use super::{Auth, AuthUser, Rule, TokenDigest, WorkloadUser};
use crate::differences::differences;
use toolwire_identity::{Issuer, TrustDomain};
use toolwire_tool::context::{User, UserId};

impl Auth {
    /// What this one says that `before` did not, and the reverse; empty if both say the same.
    pub fn changes_since(&self, before: &Self) -> Vec<String> {
        let mut changes = self.changes_of_users(before);
        changes.extend(self.changes_of_issuers(before));
        changes.extend(self.changes_of_trust_domains(before));
        changes.extend(self.changes_of_workloads(before));
        let rules = |from: &Self, to: &Self, what: &str| -> Vec<String> {
            let missing = from.rules.iter().filter(|rule| !to.rules.iter().any(|it| it.says_the_same(rule)));
            missing.map(|rule| format!("{what}: {}", rule.at)).collect()
        };
        changes.extend(rules(self, before, "rule added"));
        changes.extend(rules(before, self, "rule removed"));
        changes
    }

    /// Whether both say the same of what the user may.
    pub fn is_same_for(&self, other: &Self, user: &User) -> bool {
        let entries = |auth: &Self| auth.entries(user).map(AuthUser::without_place).collect::<Vec<_>>();
        let rules = |auth: &Self| {
            auth.rules.iter().filter(|it| it.is_for(user)).map(Rule::without_place).collect::<Vec<_>>()
        };
        entries(self) == entries(other) && rules(self) == rules(other)
    }

    /// Whether the token is one of this user of the file.
    pub fn has_token(&self, user: &UserId, token: &TokenDigest) -> bool {
        self.users.iter().any(|entry| entry.user_id == *user && entry.presents(token))
    }

    fn changes_of_users(&self, before: &Self) -> Vec<String> {
        let entries = |auth: &Self, id: &UserId| -> Vec<AuthUser> {
            auth.users.iter().filter(|it| it.user_id == *id).map(AuthUser::without_place).collect()
        };
        let rights = |entries: &[AuthUser]| entries.first().map(AuthUser::without_token);
        let ids: BTreeSet<_> = self.users.iter().chain(&before.users).map(|it| &it.user_id).collect();
        let change = |id: &UserId| {
            let (now, then) = (entries(self, id), entries(before, id));
            let what = match (now.as_slice(), then.as_slice()) {
                (now, then) if now == then => return None,
                (_, []) => "user added",
                ([], _) => "user removed",
                (now, then) if rights(now) != rights(then) => "user changed",
                _ => "tokens changed of user",
            };
            Some(format!("{what}: {id}"))
        };
        ids.into_iter().filter_map(change).collect()
    }

    fn changes_of_issuers(&self, before: &Self) -> Vec<String> {
        let by_name = |auth: &Self| -> BTreeMap<String, Issuer> {
            auth.issuers.iter().map(|it| (it.name.clone(), it.clone())).collect()
        };
        differences("issuer", &by_name(self), &by_name(before))
    }

    fn changes_of_trust_domains(&self, before: &Self) -> Vec<String> {
        let by_name = |auth: &Self| -> BTreeMap<String, TrustDomain> {
            auth.trust_domains.iter().map(|it| (it.name.clone(), it.clone())).collect()
        };
        differences("trust domain", &by_name(self), &by_name(before))
    }

    fn changes_of_workloads(&self, before: &Self) -> Vec<String> {
        let by_id = |auth: &Self| -> BTreeMap<String, WorkloadUser> {
            auth.workloads.iter().map(|it| (it.id.to_string(), it.clone())).collect()
        };
        differences("workload", &by_id(self), &by_id(before))
    }
}

impl AuthUser {
    fn without_place(&self) -> Self {
        Self { at: String::new(), ..self.clone() }
    }

    fn without_token(&self) -> Self {
        Self { token: None, ..self.clone() }
    }
}

impl Rule {
    fn without_place(&self) -> Self {
        Self { at: String::new(), ..self.clone() }
    }

    /// Whether both are written alike. What a toolset has is a change of the toolset.
    fn says_the_same(&self, other: &Self) -> bool {
        let names = |rule: &Self| rule.toolsets.iter().map(|it| it.name.clone()).collect::<Vec<_>>();
        let written = |rule: &Self| Self { toolsets: Vec::new(), ..rule.without_place() };
        written(self) == written(other) && names(self) == names(other)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CORP, MESH, RILEY, auth, user};

    #[test]
    fn what_differs_is_told_by_name_and_place_and_without_tokens() {
        let rule = "[[auth.rules]]\nwho = ['group:corp/support']\ntools = ['get_*']\n";
        let before = auth(&format!("{CORP}{RILEY}{rule}"));
        // Lines that only moved say the same.
        let moved = auth(&format!("{rule}\n\n{RILEY}\n{CORP}"));
        assert_eq!(moved.changes_since(&before), [""; 0]);
        let alex = RILEY.replace("riley", "alex");
        let added = auth(&format!("{CORP}{RILEY}{alex}{rule}")).changes_since(&before);
        assert_eq!(added, ["user added: alex"]);
        let token = RILEY.replace("s3cret-token", "an0ther-token");
        let rotated = auth(&format!("{CORP}{token}{rule}")).changes_since(&before);
        assert_eq!(rotated, ["tokens changed of user: riley"]);
        let narrowed = auth(&format!("{CORP}{RILEY}tools = ['get_*']\n{rule}")).changes_since(&before);
        assert_eq!(narrowed, ["user changed: riley"]);
        let longer = auth(&format!("{CORP}max_life = '2h'\n{}", rule.replace("get_*", "*")));
        let changes = longer.changes_since(&before);
        assert_eq!(&changes[..2], ["user removed: riley", "issuer changed: corp"]);
        assert!(
            changes[2].starts_with("rule added: ") && changes[2].ends_with(": auth.rules.0"),
            "{changes:?}"
        );
        assert!(changes[3].starts_with("rule removed: "), "{changes:?}");
        let none = auth(RILEY).changes_since(&before);
        assert_eq!(none.len(), 2, "{none:?}");
        for changes in [added, rotated, narrowed, changes, none] {
            assert!(!changes.concat().contains("token-of"), "{changes:?}");
        }
    }

    #[test]
    fn workloads_that_differ_are_told_by_their_ids() {
        let file = |id: &str, user: &str| {
            format!("{MESH}[[auth.spiffe]]\nid = 'spiffe://example.org/{id}'\nuser = '{user}'\n")
        };
        let before = auth(&file("a", "a"));
        assert_eq!(auth(&file("a", "a")).changes_since(&before), [""; 0]);
        assert_eq!(
            auth(&file("a", "b")).changes_since(&before),
            ["workload changed: spiffe://example.org/a"]
        );
        let expected = ["workload removed: spiffe://example.org/a", "workload added: spiffe://example.org/b"];
        assert_eq!(auth(&file("b", "a")).changes_since(&before), expected);
    }

    #[test]
    fn a_rule_for_others_changes_nothing_for_a_user() {
        let rule = |who: &str| format!("[[auth.rules]]\nwho = ['{who}']\ntools = ['get_*']\n");
        let before = auth(&format!("{CORP}{}", rule("group:corp/support")));
        let more = auth(&format!("{}{CORP}{}", rule("user:corp:8f2c"), rule("group:corp/support")));
        assert!(more.is_same_for(&before, &user("corp:1", &["corp/support"], &[])));
        assert!(!more.is_same_for(&before, &user("corp:8f2c", &["corp/support"], &[])));
    }
}
