//! A value in a data file, and its place: reads typed fields and collects every problem rather than the first.
//!
//! Unknown keys are tolerated.

use std::cell::RefCell;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use toolwire_base::files::Problem;

/// Collects problems while a file is read; which file that is, the reader does not know.
pub(super) type Problems = RefCell<Vec<Problem>>;

/// A value and its place. What cannot be read is reported, and is then `None`.
pub(super) struct Node<'a> {
    value: &'a Value,
    pointer: String,
    problems: &'a Problems,
}

impl<'a> Node<'a> {
    /// The whole file. Reports a file that is not an object.
    pub(super) fn root(value: &'a Value, problems: &'a Problems) -> Self {
        let root = Self { value, pointer: String::new(), problems };
        root.object();
        root
    }

    /// The value of a key; `None` if there is none or it is empty, since an empty section counts as missing.
    pub(super) fn section(&self, key: &str) -> Option<Node<'a>> {
        self.child(key).filter(|node| !is_empty(node.value))
    }

    /// The value of a key that must be there.
    pub(super) fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.require(key)?.read()
    }

    /// The value of a key that may be left out or `null`.
    pub(super) fn find<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        self.child(key)?.read()
    }

    /// The items of a list that must be there.
    pub(super) fn list<T>(&self, key: &str, read: impl Fn(&Node<'a>) -> Option<T>) -> Option<Vec<T>> {
        let list = self.require(key)?;
        let Value::Array(items) = list.value else { return list.wrong("a list") };
        let items: Vec<_> =
            items.iter().enumerate().map(|(index, item)| read(&list.at(&index.to_string(), item))).collect();
        items.into_iter().collect()
    }

    /// The members of an object that may be left out.
    pub(super) fn members<T>(&self, key: &str, read: impl Fn(&str, &Node<'a>) -> Option<T>) -> Vec<T> {
        let Some(object) = self.child(key) else { return Vec::new() };
        let members = object.object().into_iter().flatten();
        members.filter_map(|(name, value)| read(name, &object.at(name, value))).collect()
    }

    /// The value of a key, or what it inherits; one of them must be there.
    pub(super) fn get_or<T: DeserializeOwned>(&self, key: &str, inherited: Option<T>) -> Option<T> {
        match self.child(key) {
            Some(own) => own.read(),
            None => inherited.or_else(|| self.require(key)?.read()),
        }
    }

    /// Says that the value of a key breaks a rule.
    pub(super) fn refuse(&self, key: &str, rule: &'static str, description: impl Into<String>) {
        self.child(key).as_ref().unwrap_or(self).report(rule, description);
    }

    fn read<T: DeserializeOwned>(&self) -> Option<T> {
        T::deserialize(self.value).map_err(|error| self.report("wrong-type", error.to_string())).ok()
    }

    /// Says that something is wrong here.
    pub(super) fn report(&self, rule: &'static str, description: impl Into<String>) {
        let problem = Problem { pointer: self.pointer.clone(), ..Problem::new("", rule, description) };
        self.problems.borrow_mut().push(problem);
    }

    fn require(&self, key: &str) -> Option<Node<'a>> {
        let child = self.child(key);
        if child.is_none() && self.object().is_some() {
            self.report("missing-key", format!("`{key}` is missing"));
        }
        child
    }

    fn child(&self, key: &str) -> Option<Node<'a>> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(self.at(key, value))
    }

    fn object(&self) -> Option<&'a Map<String, Value>> {
        match self.value {
            Value::Object(map) => Some(map),
            _ => self.wrong("an object"),
        }
    }

    fn wrong<T>(&self, expected: &str) -> Option<T> {
        let problem = Problem {
            pointer: self.pointer.clone(),
            ..Problem::new("", "wrong-type", format!("expected {expected}"))
        };
        let mut problems = self.problems.borrow_mut();
        if !problems.contains(&problem) {
            problems.push(problem);
        }
        None
    }

    fn at(&self, key: &str, value: &'a Value) -> Node<'a> {
        let key = key.replace('~', "~0").replace('/', "~1");
        Node { value, pointer: format!("{}/{key}", self.pointer), problems: self.problems }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_problem_is_reported_with_its_place() {
        let value = json!({"a": {"rows": [{"n": 1}, {"n": "x"}, {}, 5]}});
        let problems = Problems::default();
        let section = Node::root(&value, &problems).section("a").expect("present");
        assert_eq!(section.list("rows", |row| row.get::<u32>("n")), None);
        let found: Vec<_> = problems.borrow().iter().map(|p| (p.pointer.clone(), p.rule)).collect();
        let expected =
            [("/a/rows/1/n", "wrong-type"), ("/a/rows/2", "missing-key"), ("/a/rows/3", "wrong-type")];
        assert_eq!(found, expected.map(|(pointer, rule)| (pointer.to_owned(), rule)));
    }
}
