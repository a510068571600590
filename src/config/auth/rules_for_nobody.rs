//! Rules without a user: their users, groups or workloads are none that the file configures.

use super::{Auth, Rule, Who};
use crate::Problem;
use toolwire_identity::SpiffePattern;

/// The users of rules that nothing configures: most are mistyped.
pub(super) fn users(auth: &Auth) -> Vec<Problem> {
    let is_known = |id: &str| {
        let mut workloads = auth.workloads.iter().map(|it| &it.user);
        auth.users.iter().any(|it| it.user_id.as_str() == id) || workloads.any(|user| user.as_str() == id)
    };
    let is_unknown = |who: &Who| matches!(who, Who::User(id) if !id.contains(':') && !is_known(id));
    problems(&auth.rules, is_unknown, "is no user of [[auth.users]] or [[auth.spiffe]]")
}

/// The groups of rules that are of no issuer, and of no workload.
pub(super) fn groups(auth: &Auth) -> Vec<Problem> {
    let is_known = |id: &String| auth.workloads.iter().any(|it| it.groups.contains(id));
    let is_unknown = |who: &Who| matches!(who, Who::Group(id) if !id.contains('/') && !is_known(id));
    let what = "names no group of [[auth.spiffe]]; one of an issuer is written group:corp/support";
    problems(&auth.rules, is_unknown, what)
}

/// The workloads of rules that are no user: a certificate proves a user by an entry alone.
pub(super) fn workloads(auth: &Auth) -> Vec<Problem> {
    let is_known = |pattern: &SpiffePattern| auth.workloads.iter().any(|it| it.id.overlaps(pattern));
    let is_unknown = |who: &Who| matches!(who, Who::Workload(pattern) if !is_known(pattern));
    problems(
        &auth.rules,
        is_unknown,
        "matches no id of [[auth.spiffe]], by which a workload is a user; add one",
    )
}

fn problems(rules: &[Rule], is_unknown: impl Fn(&Who) -> bool, what: &str) -> Vec<Problem> {
    let of_rule = |rule: &Rule| {
        let unknown = rule.who.iter().filter(|who| is_unknown(who));
        unknown.map(|who| Problem::new(rule.at.clone(), format!("{who} {what}"))).collect::<Vec<_>>()
    };
    rules.iter().flat_map(of_rule).collect()
}
