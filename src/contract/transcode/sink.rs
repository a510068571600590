//! The sinks of a render: the text of its payload JSON, or a `google.protobuf.Struct`.

use prost_types::{ListValue, Struct, Value as ProtoValue, value::Kind};
use serde::Serialize;
use serde_json::Value;

use crate::json;

/// Receives a value in document order.
pub(super) trait Sink {
    fn null(&mut self);
    fn bool(&mut self, flag: bool);
    fn int(&mut self, number: i128);
    fn float(&mut self, number: f64);
    fn text(&mut self, text: &str);
    /// A whole value.
    fn value(&mut self, value: &Value);
    fn begin_object(&mut self);
    /// The name of the member whose value follows, and the same in JSON with its colon.
    fn key(&mut self, name: &str, in_json: &[u8]);
    fn end_object(&mut self);
    fn begin_list(&mut self);
    /// The value of an element follows.
    fn element(&mut self);
    fn end_list(&mut self);
}

pub(super) struct Text {
    text: Vec<u8>,
    /// Whether what comes next is the first of its object or list.
    is_first: bool,
}

impl Text {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self { text: Vec::with_capacity(bytes), is_first: true }
    }

    pub(super) fn end(self) -> Option<String> {
        String::from_utf8(self.text).ok()
    }

    fn write(&mut self, value: &(impl Serialize + ?Sized)) {
        serde_json::to_writer(&mut self.text, value).expect("a text takes whatever is written");
    }

    fn separate(&mut self) {
        if !self.is_first {
            self.text.push(b',');
        }
        self.is_first = false;
    }

    fn begin(&mut self, bracket: u8) {
        self.text.push(bracket);
        self.is_first = true;
    }

    fn finish(&mut self, bracket: u8) {
        self.text.push(bracket);
        self.is_first = false;
    }
}

impl Sink for Text {
    fn null(&mut self) {
        self.text.extend_from_slice(b"null");
    }

    fn bool(&mut self, flag: bool) {
        self.write(&flag);
    }

    fn int(&mut self, number: i128) {
        self.write(&number);
    }

    fn float(&mut self, number: f64) {
        self.write(&json::number(number));
    }

    fn text(&mut self, text: &str) {
        self.write(text);
    }

    fn value(&mut self, value: &Value) {
        self.write(value);
    }

    fn begin_object(&mut self) {
        self.begin(b'{');
    }

    fn key(&mut self, _: &str, in_json: &[u8]) {
        self.separate();
        self.text.extend_from_slice(in_json);
    }

    fn end_object(&mut self) {
        self.finish(b'}');
    }

    fn begin_list(&mut self) {
        self.begin(b'[');
    }

    fn element(&mut self) {
        self.separate();
    }

    fn end_list(&mut self) {
        self.finish(b']');
    }
}

#[derive(Default)]
pub(super) struct Structure {
    /// The containers under construction, the outermost first.
    open: Vec<Container>,
    done: Option<ProtoValue>,
    /// An integer was rounded.
    is_rounded: bool,
}

enum Container {
    /// With the name of the member whose value follows.
    Object(Struct, String),
    List(ListValue),
}

impl Structure {
    /// `None` if it would round an integer.
    pub(super) fn end(self) -> Option<Struct> {
        match self.done?.kind? {
            Kind::StructValue(structure) if !self.is_rounded => Some(structure),
            _ => None,
        }
    }

    fn put(&mut self, kind: Kind) {
        let value = ProtoValue { kind: Some(kind) };
        match self.open.last_mut() {
            Some(Container::Object(object, key)) => drop(object.fields.insert(std::mem::take(key), value)),
            Some(Container::List(list)) => list.values.push(value),
            None => self.done = Some(value),
        }
    }

    fn close(&mut self) {
        match self.open.pop() {
            Some(Container::Object(object, _)) => self.put(Kind::StructValue(object)),
            Some(Container::List(list)) => self.put(Kind::ListValue(list)),
            None => {}
        }
    }
}

impl Sink for Structure {
    fn null(&mut self) {
        self.put(Kind::NullValue(0));
    }

    fn bool(&mut self, flag: bool) {
        self.put(Kind::BoolValue(flag));
    }

    #[allow(clippy::cast_precision_loss, reason = "a structure has no other number")]
    fn int(&mut self, number: i128) {
        self.is_rounded |= !json::is_small(number);
        self.put(Kind::NumberValue(number as f64));
    }

    fn float(&mut self, number: f64) {
        self.value(&json::number(number));
    }

    fn text(&mut self, text: &str) {
        self.put(Kind::StringValue(text.to_owned()));
    }

    fn value(&mut self, value: &Value) {
        self.is_rounded |= json::rounded_in_structure(value).is_some();
        self.put(json::to_value(value).kind.unwrap_or(Kind::NullValue(0)));
    }

    fn begin_object(&mut self) {
        self.open.push(Container::Object(Struct::default(), String::new()));
    }

    fn key(&mut self, name: &str, _: &[u8]) {
        if let Some(Container::Object(_, key)) = self.open.last_mut() {
            name.clone_into(key);
        }
    }

    fn end_object(&mut self) {
        self.close();
    }

    fn begin_list(&mut self) {
        self.open.push(Container::List(ListValue::default()));
    }

    fn element(&mut self) {}

    fn end_list(&mut self) {
        self.close();
    }
}
