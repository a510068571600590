//! The keywords that the validator is not left to check as it would: those whose errors hold copies, one for each
//! branch, and the one whose work depends on more than the value.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use jsonschema::{Keyword, Retrieve, ValidationError, ValidationOptions, Validator, json::Node};
use serde_json::{Map, Value};

use crate::{
    instance::{Instance, Instances},
    meter,
    pattern::Pattern,
};

/// Those whose errors hold an error, and a copy of the value, for all that is wrong by each branch, or the schema.
const BRANCHES: [&str; 3] = ["anyOf", "oneOf", NOT];
pub(crate) const NOT: &str = "not";
pub(crate) const PATTERN: &str = "pattern";

pub(crate) type Options = ValidationOptions<'static, Arc<dyn Retrieve>, Instances>;
type Checked = Box<dyn for<'i> Keyword<'i, Instances>>;

/// `anyOf`, `oneOf` or `not`, which is broken or not, without a word of its branches.
struct Branches(Validator<Instances>);

struct Matches {
    pattern: String,
    compiled: Arc<Pattern>,
}

/// Adds the keywords to how a schema is compiled.
pub(crate) fn add_to(options: Options, max_pattern: Option<usize>) -> Options {
    // Each is compiled once, however often a schema has it.
    let patterns: Mutex<HashMap<String, Arc<Pattern>>> = Mutex::default();
    let options = options.with_keyword(PATTERN, move |_, pattern, _| {
        let text = pattern.as_str().ok_or_else(|| ValidationError::custom("a pattern is a text"))?;
        let mut patterns = patterns.lock().unwrap_or_else(PoisonError::into_inner);
        let compiled = match patterns.get(text) {
            Some(compiled) => Arc::clone(compiled),
            None => Arc::new(Pattern::compile(text, max_pattern).ok_or_else(|| bad_pattern(pattern))?),
        };
        patterns.insert(text.to_owned(), Arc::clone(&compiled));
        Ok(Box::new(Matches { pattern: text.to_owned(), compiled }) as Checked)
    });
    let of_branches = options.clone();
    BRANCHES.into_iter().fold(options, |options, keyword| {
        let of_branches = of_branches.clone();
        options.with_keyword(keyword, move |_, schema, _| {
            let alone = Map::from_iter([(keyword.to_owned(), schema.clone())]);
            Ok(Box::new(Branches(of_branches.build(&alone.into())?)) as Checked)
        })
    })
}

fn bad_pattern(pattern: &Value) -> ValidationError<'static> {
    ValidationError::custom(format!("{pattern} is not a \"regex\""))
}

/// The error of a value that is not valid, if that is true.
fn broken(is_valid: bool, what: &str) -> Result<(), ValidationError<'static>> {
    if is_valid || !meter::count_error(0) { Ok(()) } else { Err(ValidationError::custom(what)) }
}

impl<'i> Keyword<'i, Instances> for Branches {
    fn validate(&self, instance: Instance<'i>) -> Result<(), ValidationError<'i>> {
        broken(self.is_valid(instance), "")
    }

    fn is_valid(&self, instance: Instance<'i>) -> bool {
        self.0.is_valid(instance)
    }
}

impl<'i> Keyword<'i, Instances> for Matches {
    fn validate(&self, instance: Instance<'i>) -> Result<(), ValidationError<'i>> {
        broken(self.is_valid(instance), &self.pattern)
    }

    fn is_valid(&self, instance: Instance<'i>) -> bool {
        instance.as_string().is_none_or(|text| self.compiled.is_match(&text))
    }
}
