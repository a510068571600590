//! Checks that a message can be a tool's input or output.
//!
//! The JSON of payloads has no form for bytes and enums, schemas for models cannot express a oneof, and a recursive
//! schema would be infinite.

use std::collections::BTreeSet;

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

use crate::registry::{field_declaration::Direction, problem::Report};

/// The messages of `google.protobuf` that have a form in the JSON of payloads.
const WELL_KNOWN: [&str; 4] = [
    "google.protobuf.Timestamp",
    "google.protobuf.Duration",
    "google.protobuf.Struct",
    "google.protobuf.Value",
];

/// Reports every unsupported field of a message and of its nested messages.
pub(in crate::registry) fn refuse_unsupported(
    message: &MessageDescriptor,
    direction: Direction,
    report: &mut Report,
) {
    let mut walk = Walk { direction, above: Vec::new(), done: BTreeSet::new(), report };
    walk.message(message);
}

/// Whether a message has no unsupported fields.
pub(in crate::registry) fn is_payload(message: &MessageDescriptor, direction: Direction) -> bool {
    let mut report = Report::new("");
    refuse_unsupported(message, direction, &mut report);
    report.len() == 0
}

/// Whether every value that the schema accepts fits the message, so that no trial conversion is needed. False if
/// numbers are narrower than JSON's, as a double is than an integer, or a text is a date.
pub(in crate::registry) fn is_exact(message: &MessageDescriptor) -> bool {
    match message.full_name() {
        "google.protobuf.Duration" => true,
        name if WELL_KNOWN.contains(&name) => false,
        _ => message.fields().all(|field| match element(&field) {
            Kind::Message(message) => is_exact(&message),
            kind => matches!(kind, Kind::String | Kind::Bool),
        }),
    }
}

struct Walk<'a> {
    direction: Direction,
    above: Vec<String>,
    done: BTreeSet<String>,
    report: &'a mut Report,
}

impl Walk<'_> {
    fn message(&mut self, message: &MessageDescriptor) {
        let name = message.full_name();
        if WELL_KNOWN.contains(&name) || !self.done.insert(name.to_owned()) {
            return;
        }
        self.above.push(name.to_owned());
        for field in message.fields() {
            self.field(&field);
        }
        self.above.pop();
    }

    fn field(&mut self, field: &FieldDescriptor) {
        if let Some((rule, fix)) = self.fault(field) {
            self.report.add(self.direction.message_pointer(), rule, format!("{}: {fix}", field.full_name()));
        } else if let Kind::Message(message) = element(field) {
            self.message(&message);
        }
    }

    fn fault(&self, field: &FieldDescriptor) -> Option<(&'static str, &'static str)> {
        let is_input = self.direction == Direction::Input;
        match element(field) {
            Kind::Bytes => Some(("bytes-field", "a payload has no form for bytes; use a string")),
            Kind::Enum(_) => {
                Some(("enum-field", "use a string, and list its words under `enum` in the manifest"))
            }
            Kind::Message(message) if self.above.iter().any(|name| name == message.full_name()) => {
                Some(("recursive-message", "a payload may not contain itself"))
            }
            Kind::Message(message) if is_unknown_to_json(&message) => {
                Some(("unsupported-message", "a payload has no form for this message"))
            }
            _ if field.is_map() && !has_text_keys(field) => {
                Some(("map-key", "the keys of a map must be strings"))
            }
            _ if is_input && is_in_oneof(field) => Some(("oneof-field", "an input may not have a oneof")),
            _ if is_input && is_singular(field) && !field.supports_presence() => {
                Some(("field-not-optional", "declare it `optional`, so that absent and zero are told apart"))
            }
            _ => None,
        }
    }
}

/// The kind of a field, or of each element of a list, or of each value of a map.
pub(super) fn element(field: &FieldDescriptor) -> Kind {
    match field.kind() {
        Kind::Message(entry) if field.is_map() => entry.map_entry_value_field().kind(),
        kind => kind,
    }
}

/// Whether a field belongs to a oneof that the author wrote.
pub(super) fn is_in_oneof(field: &FieldDescriptor) -> bool {
    field.containing_oneof().is_some_and(|oneof| !oneof.is_synthetic())
}

fn is_singular(field: &FieldDescriptor) -> bool {
    !field.is_list() && !field.is_map()
}

fn is_unknown_to_json(message: &MessageDescriptor) -> bool {
    message.package_name() == "google.protobuf" && !WELL_KNOWN.contains(&message.full_name())
}

fn has_text_keys(field: &FieldDescriptor) -> bool {
    matches!(field.kind(), Kind::Message(entry) if entry.map_entry_key_field().kind() == Kind::String)
}

#[cfg(test)]
mod tests {
    use prost_reflect::{
        DescriptorPool,
        prost_types::{
            DescriptorProto, FieldDescriptorProto, FileDescriptorProto,
            field_descriptor_proto::{Label, Type},
        },
    };

    use super::*;

    /// A message `M` with one field of the given type and label.
    fn message(kind: Type, type_name: &str, label: Label, is_optional: bool) -> MessageDescriptor {
        let field = FieldDescriptorProto {
            name: Some("f".into()),
            number: Some(1),
            label: Some(label.into()),
            r#type: Some(kind.into()),
            type_name: (!type_name.is_empty()).then(|| type_name.to_owned()),
            oneof_index: is_optional.then_some(0),
            proto3_optional: Some(is_optional),
            ..FieldDescriptorProto::default()
        };
        let oneof =
            prost_reflect::prost_types::OneofDescriptorProto { name: Some("_f".into()), options: None };
        let message = DescriptorProto {
            name: Some("M".into()),
            field: vec![field],
            oneof_decl: if is_optional { vec![oneof] } else { Vec::new() },
            ..DescriptorProto::default()
        };
        let file = FileDescriptorProto {
            name: Some("m.proto".into()),
            package: Some("p".into()),
            syntax: Some("proto3".into()),
            dependency: vec!["google/protobuf/any.proto".into()],
            message_type: vec![message],
            ..FileDescriptorProto::default()
        };
        let mut pool = DescriptorPool::global();
        pool.add_file_descriptor_proto(file).expect("a valid file");
        pool.get_message_by_name("p.M").expect("the message")
    }

    #[track_caller]
    fn check(message: &MessageDescriptor, direction: Direction, expected: &[&str]) {
        let mut report = Report::new("");
        refuse_unsupported(message, direction, &mut report);
        let rules: Vec<_> = report.into_problems().into_iter().map(|problem| problem.rule).collect();
        assert_eq!(rules, expected);
    }

    #[test]
    fn bytes_recursion_and_other_messages_have_no_form() {
        for direction in [Direction::Input, Direction::Output] {
            check(&message(Type::Bytes, "", Label::Optional, true), direction, &["bytes-field"]);
            check(&message(Type::Message, ".p.M", Label::Repeated, false), direction, &["recursive-message"]);
            let any = message(Type::Message, ".google.protobuf.Any", Label::Optional, false);
            check(&any, direction, &["unsupported-message"]);
        }
    }

    #[test]
    fn only_an_input_must_tell_absent_from_zero() {
        let plain = message(Type::String, "", Label::Optional, false);
        check(&plain, Direction::Input, &["field-not-optional"]);
        check(&plain, Direction::Output, &[]);
        check(&message(Type::String, "", Label::Optional, true), Direction::Input, &[]);
    }

    #[test]
    fn a_trial_is_needed_only_where_json_is_wider() {
        assert!(is_exact(&message(Type::Bool, "", Label::Optional, true)));
        for kind in [Type::Int32, Type::Uint64, Type::Float, Type::Double] {
            assert!(!is_exact(&message(kind, "", Label::Optional, true)), "{kind:?}");
        }
    }
}
