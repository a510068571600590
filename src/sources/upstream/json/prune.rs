//! Reads a value as a type, taking out of it what does not fit, one thing after another, until the rest does.
//!
//! The errors of the type's own `Deserialize` say which value to remove. If the type still cannot be read without that
//! value, its parent is removed. What the type does not read is not examined.

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use super::{faults, unreadable::Unreadable};

/// A value that is wrong in more places than this is another one.
const MAX_PASSES: usize = 64;

/// The longest name of a field that is shown to operators, in bytes.
const MAX_NAME: usize = 40;

/// Where something stands in what holds it.
#[derive(Clone, Debug)]
enum Step {
    Field(String),
    Element(usize),
}

/// What was taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    /// A field, or a value of a list that may have nulls.
    Value,
    /// An element of a list.
    Item,
    /// A null, in which nothing is lost.
    Nothing,
}

/// Reads a value, without what of it does not fit.
pub(super) fn read<T: DeserializeOwned>(value: &mut Value) -> Result<T, Unreadable> {
    let beginning = faults::savepoint();
    let mut first = None;
    for _ in 0..MAX_PASSES {
        let savepoint = faults::savepoint();
        let path = match serde_path_to_error::deserialize::<_, T>(&*value) {
            Ok(read) => return Ok(read),
            Err(error) => steps(error.path()),
        };
        // Lists within were read in this pass, and are read again in the next.
        faults::return_to(savepoint);
        let place = display_path(&path);
        let Some(loss) = take_out(value, path) else {
            first.get_or_insert(place);
            break;
        };
        if loss != Loss::Nothing {
            first.get_or_insert_with(|| place.clone());
            faults::note(|faults| {
                match loss {
                    Loss::Item => faults.items += 1,
                    Loss::Value | Loss::Nothing => faults.values += 1,
                }
                faults.at(place);
            });
        }
    }
    faults::return_to(beginning);
    Err(Unreadable(format!("what stands at {} is missing or cannot be used", first.unwrap_or_default())))
}

/// Takes out what stands at a path, or else what holds it. `None` where that is the whole.
fn take_out(root: &mut Value, mut path: Vec<Step>) -> Option<Loss> {
    loop {
        let last = path.pop()?;
        match (parent(root, &path)?, last) {
            // Absent and not null, which some sources state where there is nothing.
            (Value::Object(fields), Step::Field(name)) => {
                if let Some(field) = fields.shift_remove(&name) {
                    return Some(if field.is_null() { Loss::Nothing } else { Loss::Value });
                }
            }
            (Value::Array(elements), Step::Element(index)) if index < elements.len() => {
                let element = &mut elements[index];
                // In a column of numbers the places of the others must not move.
                let is_scalar = !matches!(element, Value::Object(_) | Value::Array(_) | Value::Null);
                if is_scalar {
                    *element = Value::Null;
                    return Some(Loss::Value);
                }
                let loss = if element.is_null() { Loss::Nothing } else { Loss::Item };
                elements.remove(index);
                // A list that has lost all its items is not an empty one.
                if !elements.is_empty() {
                    return Some(loss);
                }
            }
            _ => {}
        }
    }
}

fn parent<'a>(root: &'a mut Value, path: &[Step]) -> Option<&'a mut Value> {
    path.iter().try_fold(root, |value, step| match step {
        Step::Field(name) => value.get_mut(name),
        Step::Element(index) => value.get_mut(*index),
    })
}

/// The known part of an error's path.
fn steps(path: &Path) -> Vec<Step> {
    let steps = path.iter().map_while(|segment| match segment {
        Segment::Map { key } => Some(Step::Field(key.clone())),
        Segment::Seq { index } => Some(Step::Element(*index)),
        Segment::Enum { .. } | Segment::Unknown => None,
    });
    steps.collect()
}

/// A path for operators. A name that is implausible for a field is not repeated.
fn display_path(path: &[Step]) -> String {
    let is_named = |name: &str| {
        name.len() <= MAX_NAME && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let steps = path.iter().map(|step| match step {
        Step::Field(name) if is_named(name) => format!(".{name}"),
        Step::Field(_) => ".?".to_owned(),
        Step::Element(index) => format!("[{index}]"),
    });
    let shown: String = steps.collect();
    if shown.is_empty() { ".".to_owned() } else { shown }
}
