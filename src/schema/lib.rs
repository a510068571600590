//! JSON Schemas (2020-12), and what a value breaks of one.
//!
//! The only place that runs a schema: a value and a schema may both come from others, so the work of a check is metered
//! and bounded, its violations end at a number, and none of them holds a copy of the value. Not here: how schemas are
//! derived, and how violations are worded.

mod breach;
mod equality;
mod instance;
mod keywords;
mod meter;
pub mod pattern;

use std::fmt;

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

pub use self::breach::{Breach, Breaches, MAX_QUOTED, cut, quoted};
use self::instance::{Instance, Instances};
pub use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};

/// Maximum work of a check, in steps of some nanoseconds: a look at a member, at an element, or at eight bytes of text.
/// A value of 3 MiB that each of 16 branches reads whole takes less.
pub const MAX_STEPS: u64 = 128 * 1024 * 1024;
/// The steps of a check that holds no thread up: well below a millisecond.
const FEW_STEPS: u64 = 64 * 1024;

/// The steps that checks may still take.
#[derive(Clone, Copy, Debug)]
pub struct Work(u64);

/// A compiled schema.
pub struct Schema {
    validator: Validator<Instances>,
    /// The steps that eight bytes of a member's name take, by the patterns that are matched with names.
    steps_of_names: u64,
}

/// How a schema is compiled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Maximum size of a compiled pattern, in bytes: one of a few characters could take 10 MiB.
    pub max_pattern: Option<usize>,
    /// Whether a violation of `anyOf`, `oneOf` and `not` says what is wrong with each branch. It takes memory by the
    /// number of branches.
    pub explains_branches: bool,
}

/// Why a value is not accepted.
#[derive(Debug)]
pub enum Misfit<'a> {
    Broken(Breaches<'a>),
    TooMuchWork,
}

/// The check of a value would take more steps than there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMuchWork;

/// The first violation, in the validator's words.
impl fmt::Display for Misfit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(breaches) => breaches.first().fmt(f),
            Self::TooMuchWork => write!(f, "it takes more than {MAX_STEPS} steps to be checked"),
        }
    }
}

impl Work {
    /// As much as one check may take: seconds, of many values and a large schema.
    pub const fn all() -> Self {
        Self(MAX_STEPS)
    }

    /// As much as may be done where other calls wait.
    pub const fn little() -> Self {
        Self(FEW_STEPS)
    }

    pub const fn steps(self) -> u64 {
        self.0
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").finish_non_exhaustive()
    }
}

impl Schema {
    /// Compiles a schema: formats count, patterns match in linear time, nothing is fetched.
    ///
    /// # Errors
    /// If it is no schema, or a pattern is too large.
    pub fn compile(schema: &Value, options: Options) -> Result<Self, String> {
        let patterns = PatternOptions::regex().dfa_size_limit(pattern::MAX_CACHE);
        let patterns = match options.max_pattern {
            Some(max) => patterns.size_limit(max),
            None => patterns,
        };
        let plain = jsonschema::options_for::<Instances>()
            .with_draft(Draft::Draft202012)
            .should_validate_formats(true)
            .with_pattern_options(patterns)
            .with_format("regex", pattern::is_pattern);
        let compiling =
            if options.explains_branches { plain } else { keywords::add_to(plain, options.max_pattern) };
        let validator = compiling.build(schema).map_err(|error| error.to_string())?;
        Ok(Self { validator, steps_of_names: pattern::steps_of_names(schema) })
    }

    /// Whether a value satisfies it.
    ///
    /// # Errors
    /// If that takes more work than there is.
    pub fn accepts(&self, value: &Value, work: &mut Work) -> Result<bool, TooMuchWork> {
        meter::start(work.0, self.steps_of_names);
        let is_valid = self.validator.is_valid(Instance(value));
        work.0 = meter::left();
        if work.0 == 0 { Err(TooMuchWork) } else { Ok(is_valid) }
    }

    /// What a value breaks, in the order in which it is found, up to `most`: all that is found before the work is too
    /// much.
    ///
    /// # Errors
    /// If it breaks anything, or that takes more than twice the work.
    pub fn check<'a>(&'a self, value: &'a Value, most: usize, mut work: Work) -> Result<(), Misfit<'a>> {
        // Listing violations is slower than looking for any, and most values have none.
        let Work(steps) = work;
        match self.accepts(value, &mut work) {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err(TooMuchWork) => return Err(Misfit::TooMuchWork),
        }
        meter::start(steps, self.steps_of_names);
        // One more: that about a name of a member is made before that about its object.
        meter::limit_errors(most.saturating_add(1));
        let mut errors: Vec<_> = if most == 1 {
            self.validator.validate(Instance(value)).err().into_iter().collect()
        } else {
            self.validator.iter_errors(Instance(value)).collect()
        };
        errors.retain(|error| !instance::is_untrue(error));
        errors.truncate(most);
        Err(if errors.is_empty() {
            Misfit::TooMuchWork
        } else {
            Misfit::Broken(Breaches::new(errors, value))
        })
    }
}

#[cfg(test)]
mod tests;
