//! A JSON value as the validator sees it: each look at it is metered, and errors get no copy of it.

use std::borrow::Cow;

use jsonschema::{
    JsonType, ValidationError,
    json::{Array, Json, Node, NodeIdentity, Object, SerdeJson},
};
use jsonschema_value::LazyInstance;
use serde_json::{Map, Number, Value, map};

use crate::{
    equality::{are_unique, equal},
    meter,
};

/// As much of a text as an error keeps, in bytes: of the name of a member, which the error cannot point at.
const MAX_KEPT: usize = 256;

/// The representation.
pub(crate) struct Instances;

#[derive(Clone, Copy)]
pub(crate) struct Instance<'a>(pub(crate) &'a Value);

pub(crate) struct Members<'a>(&'a Map<String, Value>);

pub(crate) struct Elements<'a>(&'a [Value]);

pub(crate) struct MembersIter<'a>(map::Iter<'a>);

pub(crate) struct ElementsIter<'a>(std::slice::Iter<'a, Value>);

/// Whether an error was made when the meter was over, so that it may not be true.
pub(crate) fn is_untrue(error: &ValidationError<'_>) -> bool {
    **error.instance() == Value::Bool(true)
}

impl Json for Instances {
    type Node<'a> = Instance<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    const KEYS_PER_LOOKUP: usize = SerdeJson::KEYS_PER_LOOKUP;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(buffer: &mut Value, text: &str, check: impl FnOnce(Instance<'_>) -> T) -> T {
        SerdeJson::with_string_node(buffer, text, |value| check(Instance(value)))
    }
}

impl<'a> Node<'a, Instances> for Instance<'a> {
    type Object = Members<'a>;
    type Array = Elements<'a>;
    type Number = &'a Number;

    #[inline]
    fn as_object(&self) -> Option<Members<'a>> {
        self.0.as_object().filter(|_| meter::spend(1)).map(Members)
    }

    #[inline]
    fn as_array(&self) -> Option<Elements<'a>> {
        let items = self.0.as_array().filter(|_| meter::spend(1))?;
        Some(Elements(items))
    }

    #[inline]
    fn as_string(&self) -> Option<Cow<'a, str>> {
        let text = self.0.as_str().filter(|text| meter::spend_text(text.len()))?;
        Some(Cow::Borrowed(text))
    }

    #[inline]
    fn as_number(&self) -> Option<&'a Number> {
        self.0.as_number().filter(|_| meter::spend(1))
    }

    fn as_boolean(&self) -> Option<bool> {
        self.0.as_bool()
    }

    fn is_null(&self) -> bool {
        self.0.is_null()
    }

    fn is_number(&self) -> bool {
        self.0.is_number()
    }

    #[inline]
    fn json_type(&self) -> JsonType {
        self.0.json_type()
    }

    fn string_length(&self) -> Option<u64> {
        self.0.as_str().filter(|text| meter::spend_text(text.len()))?;
        self.0.string_length()
    }

    fn equals_value(&self, expected: &Value) -> bool {
        equal(self.0, expected)
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(match self.0 {
            Value::String(text) => text[..text.floor_char_boundary(MAX_KEPT)].into(),
            _ => Value::Null,
        })
    }

    /// What an error keeps of it: each asks once.
    fn lazy_value(&self) -> LazyInstance<'a> {
        let is_true = meter::count_error(self.0.as_object().map_or(0, Map::len));
        LazyInstance::Ready(if is_true { self.to_value() } else { Cow::Owned(Value::Bool(true)) })
    }

    #[inline]
    fn identity(&self) -> Option<NodeIdentity> {
        self.0.identity()
    }
}

impl<'a> Object<'a, Instances> for Members<'a> {
    type Node = Instance<'a>;
    type MemberName = &'a str;
    type MembersIter = MembersIter<'a>;

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn get(&self, key: &String) -> Option<Instance<'a>> {
        meter::spend(1);
        self.0.get(key).map(Instance)
    }

    #[inline]
    fn members(&self) -> MembersIter<'a> {
        MembersIter(self.0.iter())
    }
}

impl<'a> Array<'a, Instances> for Elements<'a> {
    type Node = Instance<'a>;
    type ElementsIter = ElementsIter<'a>;

    #[inline]
    fn len(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn elements(&self) -> ElementsIter<'a> {
        ElementsIter(self.0.iter())
    }

    fn is_unique(&self) -> bool {
        are_unique(self.0)
    }
}

impl<'a> Iterator for MembersIter<'a> {
    type Item = (&'a str, Instance<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let (name, value) = self.0.next()?;
        meter::spend_name(name.len()).then_some((name, Instance(value)))
    }
}

impl<'a> Iterator for ElementsIter<'a> {
    type Item = Instance<'a>;

    #[inline]
    fn next(&mut self) -> Option<Instance<'a>> {
        let value = self.0.next()?;
        meter::spend(1).then_some(Instance(value))
    }
}
