//! Equality of JSON values, metered: numbers by their value, objects whatever the order of their members.

use std::{
    collections::HashMap,
    hash::{BuildHasher, Hash, Hasher, RandomState},
};

use jsonschema::json::{Node, SerdeJson};
use serde_json::{Number, Value};

use crate::meter;

/// Lists up to this length are compared in pairs.
const SHORT: usize = 8;

pub(crate) fn equal(one: &Value, other: &Value) -> bool {
    if !meter::spend(1) {
        return false;
    }
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, one)| other.get(name).is_some_and(|other| equal(one, other)))
        }
        (Value::String(one), Value::String(other)) => {
            one.len() == other.len() && meter::spend_text(one.len()) && one == other
        }
        _ => Node::<SerdeJson>::equals_value(&one, other),
    }
}

/// Whether no two of the values are equal.
pub(crate) fn are_unique(items: &[Value]) -> bool {
    if items.len() <= SHORT {
        let mut rest = items.iter();
        return !rest.clone().any(|one| {
            rest.next();
            rest.clone().any(|other| equal(one, other))
        });
    }
    // Values of others choose no collisions: the keys are random, and what is hashed determines a value.
    let keys = RandomState::new();
    let mut seen: HashMap<u64, &Value> = HashMap::with_capacity(items.len());
    items.iter().all(|item| {
        let mut hasher = keys.build_hasher();
        hash(item, &keys, &mut hasher);
        seen.insert(hasher.finish(), item).is_none_or(|other| !equal(item, other))
    })
}

/// Hashes all that tells a value from others, so that the keys of different values differ.
fn hash(value: &Value, keys: &RandomState, hasher: &mut impl Hasher) {
    let text = value.as_str().map_or(0, str::len);
    if !meter::spend_text(text) {
        return;
    }
    match value {
        Value::Null => 0_u8.hash(hasher),
        Value::Bool(value) => (1_u8, value).hash(hasher),
        Value::Number(number) => hash_number(number, hasher),
        Value::String(text) => (3_u8, text).hash(hasher),
        Value::Array(items) => {
            (4_u8, items.len()).hash(hasher);
            for item in items {
                hash(item, keys, hasher);
            }
        }
        Value::Object(members) => {
            // The sum does not depend on the order.
            let sum = members.iter().fold(0_u64, |sum, (name, value)| {
                let mut member = keys.build_hasher();
                name.hash(&mut member);
                hash(value, keys, &mut member);
                sum.wrapping_add(member.finish())
            });
            (5_u8, members.len(), sum).hash(hasher);
        }
    }
}

/// Numbers that are equal, such as 1 and 1.0, have one hash.
fn hash_number(number: &Number, hasher: &mut impl Hasher) {
    let whole = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    let float = number.as_f64().unwrap_or(f64::NAN);
    #[expect(clippy::cast_possible_truncation, reason = "a float that is whole and in range is exact")]
    let whole = whole.or_else(|| (float.fract() == 0.0 && float.abs() < 1e30).then_some(float as i128));
    match whole {
        Some(whole) => (2_u8, whole).hash(hasher),
        None => (2_u8, float.to_bits()).hash(hasher),
    }
}
