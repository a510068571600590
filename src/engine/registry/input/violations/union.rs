//! Explains a value that fits no branch of a union: by the branch that it was meant for, if one can be identified.
//!
//! A validation reports only that the union is broken. Its branches are compiled and validated again, one by one,
//! within the budget of the answer: both a schema and a value may be hostile.

use serde_json::Value;

use super::{Explainer, Location, list, one_of, with_article};
use crate::registry::{
    input::kinds::{Kind, Steps, takes},
    problem::quoted,
    schema::compile_small,
};
use toolwire_contract::Violation;
use toolwire_schema::{Breach, Misfit, Work};

/// The most branches of a union among which the nearest is looked for.
const MOST_BRANCHES: usize = 8;
/// What a union, a branch besides its parts, and a pattern in it cost, in parts.
const OVERHEAD: usize = 50;

impl Explainer {
    /// `None` if this is no union, or the budget does not suffice for its branches.
    pub(super) fn explain_union(&self, breach: Breach<'_>, at: &Location<'_>) -> Option<Vec<Violation>> {
        let keyword = Some(breach.keyword()).filter(|it| matches!(*it, "anyOf" | "oneOf"))?;
        let branches = at.schema?.get(keyword)?.as_array()?;
        self.spend(OVERHEAD)?;
        let (found, steps) = (breach.found(), Steps::new(Work::little().steps()));
        let kind = Kind::of(found);
        let of_kind: Vec<_> = branches.iter().filter(|it| takes(it, &[], kind, &steps)).collect();
        if of_kind.is_empty() {
            let what = format!("{} must be {}, but is {}", at.label(), forms(branches), quoted(found));
            return Some(vec![at.violation(None, keyword, what)]);
        }
        if let Some(values) = of_kind.iter().map(|it| values(it)).collect::<Option<Vec<_>>>() {
            let values: Vec<_> = values.into_iter().flatten().collect();
            let what = format!("{} {}", at.label(), one_of(values.iter().copied(), &quoted(found)));
            return Some(vec![at.violation(None, keyword, what)]);
        }
        match discriminator(&of_kind) {
            Some(name) => self.explain_by(name, &of_kind, found, at),
            None => self.explain_nearest(&of_kind, found, at),
        }
    }

    fn spend(&self, cost: usize) -> Option<()> {
        self.budget.get().checked_sub(cost).map(|left| self.budget.set(left))
    }

    /// By the branch whose value of this member is the one that was given.
    fn explain_by(
        &self,
        name: &str,
        branches: &[&Value],
        found: &Value,
        at: &Location<'_>,
    ) -> Option<Vec<Violation>> {
        let all: Vec<_> = branches.iter().flat_map(|branch| values_of(branch, name)).collect();
        let Some(value) = found.get(name) else {
            let what = format!("`{name}` is required: one of {}", list(all.iter().map(ToString::to_string)));
            return Some(vec![at.violation(Some(name), "required", what)]);
        };
        let meant: Vec<_> =
            branches.iter().copied().filter(|branch| values_of(branch, name).contains(&value)).collect();
        if meant.is_empty() {
            let at = at.find(&format!("/{}", name.replace('~', "~0").replace('/', "~1")));
            let what = format!("{} {}", at.label(), one_of(all.iter().copied(), &quoted(value)));
            return Some(vec![at.violation(None, "enum", what)]);
        }
        self.explain_nearest(&meant, found, at)
    }

    /// By the branch of which the value breaks the least.
    fn explain_nearest(
        &self,
        branches: &[&Value],
        found: &Value,
        at: &Location<'_>,
    ) -> Option<Vec<Violation>> {
        let explanations = branches.iter().take(MOST_BRANCHES).filter_map(|branch| {
            self.spend(cost(branch, self.budget.get()))?;
            let compiled = compile_small(branch).ok()?;
            let Err(Misfit::Broken(broken)) = compiled.check(found, self.most, Work::little()) else {
                return None;
            };
            let here = Location { pointer: at.pointer.clone(), schema: Some(*branch), raw: at.raw };
            Some(self.explain(&broken, &here))
        });
        explanations.min_by_key(Vec::len)
    }
}

/// The values of a schema that lists them.
fn values(schema: &Value) -> Option<Vec<&Value>> {
    let only = schema.get("const").map(|only| vec![only]);
    only.or_else(|| Some(schema.get("enum")?.as_array()?.iter().collect()))
}

fn member<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    schema.get("properties")?.get(name)
}

fn values_of<'a>(schema: &'a Value, name: &str) -> Vec<&'a Value> {
    member(schema, name).and_then(values).unwrap_or_default()
}

/// The member whose values tell branches apart: each branch lists its own.
fn discriminator<'a>(branches: &[&'a Value]) -> Option<&'a str> {
    let (first, others) = branches.split_first().filter(|(_, others)| !others.is_empty())?;
    let mut names = first.get("properties")?.as_object()?.keys().map(String::as_str);
    let is_listed = |branch: &Value, name: &str| !values_of(branch, name).is_empty();
    names.find(|name| is_listed(first, name) && others.iter().all(|it| is_listed(it, name)))
}

/// What branches take, in words.
fn forms(branches: &[Value]) -> String {
    let form = |branch: &Value| match (values(branch), branch.get("type")) {
        (Some(values), _) => list(values.into_iter().map(ToString::to_string)),
        (None, Some(Value::String(kind))) if kind != "null" => with_article(kind),
        (None, Some(Value::String(null))) => null.clone(),
        _ => "what its schema says".to_owned(),
    };
    let mut forms: Vec<_> = Vec::new();
    for form in branches.iter().map(form) {
        if !forms.contains(&form) {
            forms.push(form);
        }
    }
    forms.join(" or ")
}

/// What it costs to compile and validate a branch, or more than `most`.
fn cost(branch: &Value, most: usize) -> usize {
    let (mut cost, mut left) = (OVERHEAD, vec![branch]);
    while let Some(part) = left.pop().filter(|_| cost <= most) {
        cost += 1;
        match part {
            Value::Array(items) => left.extend(items),
            Value::Object(members) => {
                cost += OVERHEAD * usize::from(members.contains_key("pattern"));
                if let Some(Value::Object(patterns)) = members.get("patternProperties") {
                    cost += OVERHEAD * patterns.len();
                }
                left.extend(members.values());
            }
            _ => {}
        }
    }
    cost
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{UNION_BUDGET, explain};
    use super::*;
    use crate::registry::schema::compile_bounded;

    /// What is said of an argument `x` with this schema: pointer, rule and description of each violation.
    fn said(schema: &Value, x: &Value) -> Vec<(String, String, String)> {
        let schema = json!({"type": "object", "properties": {"x": schema}, "additionalProperties": false});
        let value = json!({"x": x});
        let compiled = compile_bounded(&schema).expect("a schema");
        let Err(Misfit::Broken(broken)) = compiled.check(&value, 100, Work::all()) else { panic!("valid") };
        let violations = explain(&broken, &schema, &value, 100).into_iter();
        violations.map(|it| (it.pointer, it.rule, it.description)).collect()
    }

    #[track_caller]
    fn assert_said(schema: &Value, x: &Value, expected: &[(&str, &str, &str)]) {
        let said = said(schema, x);
        let said: Vec<_> = said.iter().map(|(at, rule, what)| (&**at, &**rule, &**what)).collect();
        assert_eq!(said, expected);
    }

    fn optional(schema: &Value) -> Value {
        json!({"anyOf": [schema, {"type": "null"}]})
    }

    #[test]
    fn an_optional_value_is_explained_as_one_that_is_not() {
        let due = optional(&json!({"type": "string", "format": "date-time"}));
        let words = "`x` must be a time such as \"2026-01-15T10:30:00Z\", but is \"soon\"";
        assert_said(&due, &json!("soon"), &[("/x", "format", words)]);
        let count = optional(&json!({"type": "integer", "minimum": 1, "maximum": 5}));
        assert_said(&count, &json!(9), &[("/x", "maximum", "`x` must be at most 5, but is 9")]);
        let words = "`x` must be an integer or null, but is \"many\"";
        assert_said(&count, &json!("many"), &[("/x", "anyOf", words)]);
        let short = optional(&json!({"type": "string", "maxLength": 2}));
        let nested = optional(&json!({"type": "array", "items": short}));
        let words = "`x.1` must have at most 2 characters, but is \"abc\"";
        assert_said(&nested, &json!(["ab", "abc"]), &[("/x/1", "maxLength", words)]);
    }

    #[test]
    fn values_of_several_branches_are_listed_together() {
        let schema = json!({"anyOf": [{"enum": ["EUR", "USD"]}, {"const": "BTC"}, {"type": "null"}]});
        let words = "`x` must be one of \"EUR\", \"USD\", \"BTC\", but is \"BTX\". Did you mean BTC?";
        assert_said(&schema, &json!("BTX"), &[("/x", "anyOf", words)]);
    }

    #[test]
    fn a_member_with_listed_values_tells_which_branch_is_meant() {
        let form = |kind: &str, member: &str| {
            json!({"type": "object", "properties": {"kind": {"const": kind}, member: {"type": "string"}},
                   "required": ["kind", member], "additionalProperties": false})
        };
        let schema = json!({"oneOf": [form("card", "last4"), form("transfer", "iban"), {"type": "null"}]});
        assert_said(&schema, &json!({"kind": "transfer"}), &[("/x/iban", "required", "`iban` is required")]);
        let words = "`x.kind` must be one of \"card\", \"transfer\", but is \"cash\"";
        assert_said(&schema, &json!({"kind": "cash"}), &[("/x/kind", "enum", words)]);
        let words = "`kind` is required: one of \"card\", \"transfer\"";
        assert_said(&schema, &json!({"last4": "1234"}), &[("/x/kind", "required", words)]);
        let words = "unknown parameter `last`. Did you mean last4?";
        let extra = json!({"kind": "card", "last4": "1", "last": "1"});
        assert_said(&schema, &extra, &[("/x/last", "additionalProperties", words)]);
    }

    #[test]
    fn without_one_the_branch_counts_of_which_least_is_broken() {
        let of = |names: &[&str]| {
            let members: serde_json::Map<_, _> =
                names.iter().map(|it| ((*it).to_owned(), json!({"type": "integer"}))).collect();
            json!({"type": "object", "properties": members, "required": names, "additionalProperties": false})
        };
        let schema = json!({"anyOf": [of(&["a", "b", "c"]), of(&["a", "d"])]});
        assert_said(&schema, &json!({"a": 1}), &[("/x/d", "required", "`d` is required")]);
    }

    #[test]
    fn a_union_beyond_the_budget_is_reported_as_broken_and_no_more() {
        let members = |count: usize, schema: &Value| -> serde_json::Map<_, _> {
            (0..count).map(|at| (format!("m{at}"), schema.clone())).collect()
        };
        let object = |members: &serde_json::Map<_, _>| {
            optional(&json!({"type": "object", "properties": members, "additionalProperties": false}))
        };
        let many_parts = members(UNION_BUDGET, &json!({"type": "integer"}));
        let many_patterns = members(UNION_BUDGET / OVERHEAD, &json!({"type": "string", "pattern": "^a$"}));
        let large_pattern = members(1, &json!({"type": "string", "pattern": "^(a{100}){60}$"}));
        for schema in [&many_parts, &many_patterns, &large_pattern] {
            let words = "`x` breaks the rule anyOf, being an object";
            assert_said(&object(schema), &json!({"n": 1}), &[("/x", "anyOf", words)]);
        }
        let list = json!({"type": "array", "items": optional(&json!({"type": "integer", "minimum": 0}))});
        let said = said(&list, &Value::from(vec![-1; 100]));
        let explained = said.iter().filter(|(_, rule, _)| rule == "minimum").count();
        assert!(said.len() == 100 && (15..25).contains(&explained), "{explained}");
    }
}
