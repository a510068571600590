//! Checks title, version and examples, and that the category agrees with the verb in the name.

use super::super::{definition::Definition, problem::Report, words::Category};

/// The category that a name's first word implies.
const VERBS: [(Category, &[&str]); 4] = [
    (Category::Read, &["get", "list", "check", "browse", "rank", "compare", "search"]),
    (Category::Write, &["add", "create", "write", "update"]),
    (Category::Delete, &["delete", "remove"]),
    (Category::SideEffect, &["send", "notify"]),
];

pub(super) fn check(definition: &Definition, report: &mut Report) {
    if definition.title.is_empty() {
        report.add("/title", "no-title", "add a short `title` for people, such as `Quotes`");
    }
    if definition.version.is_empty() {
        report.add("/version", "no-version", "add a semantic `version`, such as 1.0.0");
    }
    if definition.examples.is_empty() {
        report.add(
            "/examples",
            "no-example",
            "add at least one example: a `description` and its `arguments`",
        );
    }
    let verb = definition.name.split('_').next().unwrap_or_default();
    if let Some(category) = implied_category(verb).filter(|category| *category != definition.category) {
        let text = format!("`{verb}_` implies `{}`; change the category or the name", category.into_str());
        report.add("/category", "category-verb", text);
    }
}

fn implied_category(verb: &str) -> Option<Category> {
    VERBS.into_iter().find(|(_, verbs)| verbs.contains(&verb)).map(|(category, _)| category)
}
