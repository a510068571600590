//! The compiled forms against a walk over descriptors: both give the same for any message.

use std::collections::HashMap;

use proptest::prelude::*;
use prost::Message;
use prost_reflect::{
    DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MapKey, MessageDescriptor, Value as Field,
};
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};
use serde_json::{Value, json};

use super::*;
use crate::{
    json::{to_exact_struct, to_struct},
    payload::{of_data, to_arguments},
    transcode::Omitted,
};

/// A field of every kind that a payload may have: the messages of the fuzz target, too.
const PROTO: &str = include_str!("../../../fuzz/src/toys.proto");

/// Messages that contain themselves, one of them by another.
const DOLLS: &str = r#"
syntax = "proto3";
package toys.v1;
message Doll { optional string name = 1; Box inner = 2; }
message Box { repeated Doll dolls = 1; Doll best = 2; }
"#;

struct Own;

impl FileResolver for Own {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        match name {
            "toys.proto" => File::from_source(name, PROTO),
            "dolls.proto" => File::from_source(name, DOLLS),
            _ => Err(protox::Error::file_not_found(name)),
        }
    }
}

fn message(name: &str) -> MessageDescriptor {
    message_in("toys.proto", name)
}

fn message_in(file: &str, name: &str) -> MessageDescriptor {
    let mut resolver = ChainFileResolver::new();
    resolver.add(Own);
    resolver.add(GoogleFileResolver::new());
    let mut compiler = protox::Compiler::with_file_resolver(resolver);
    compiler.include_imports(true).open_file(file).unwrap();
    let pool = DescriptorPool::decode(compiler.encode_file_descriptor_set().as_slice()).unwrap();
    pool.get_message_by_name(&format!("toys.v1.{name}")).unwrap()
}

/// A message with about half of its fields, the same for the same seed.
fn random(message: &MessageDescriptor, rng: &mut fastrand::Rng) -> DynamicMessage {
    let mut made = DynamicMessage::new(message.clone());
    for field in message.fields() {
        if rng.bool() {
            made.set_field(&field, value(&field, rng));
        }
    }
    made
}

fn value(field: &FieldDescriptor, rng: &mut fastrand::Rng) -> Field {
    let count = rng.usize(0..4);
    if field.is_map() {
        let Kind::Message(entry) = field.kind() else { unreachable!() };
        let of = entry.map_entry_value_field();
        let entries = (0..count).map(|n| (MapKey::String(format!("k{n}\"")), single(&of.kind(), rng)));
        return Field::Map(entries.collect::<HashMap<_, _>>());
    }
    if field.is_list() {
        return Field::List((0..count).map(|_| single(&field.kind(), rng)).collect());
    }
    single(&field.kind(), rng)
}

fn single(kind: &Kind, rng: &mut fastrand::Rng) -> Field {
    const TEXTS: [&str; 6] =
        ["", "a", "naïve \"quoted\"\\", "\u{0}\u{1f}\n\u{2028}", "नमस्ते", "x/y </script>"];
    const NUMBERS: [f64; 9] =
        [0.0, -0.0, 1.0, -1.5, 193.12, 1e300, f64::NAN, f64::INFINITY, 9_007_199_254_740_993.0];
    let bits = rng.u64(..) >> rng.u32(0..64);
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
    let (narrow, signed) = (bits as u32, bits as i64);
    match kind {
        Kind::Bool => Field::Bool(rng.bool()),
        Kind::String => Field::String((*rng.choice(&TEXTS).unwrap()).to_owned()),
        Kind::Double => Field::F64(*rng.choice(&NUMBERS).unwrap()),
        Kind::Float => Field::F32(*rng.choice(&[0.0, 0.1, -3.0, f32::MAX]).unwrap()),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Field::I32(narrow.cast_signed()),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Field::I64(signed),
        Kind::Uint32 | Kind::Fixed32 => Field::U32(narrow),
        Kind::Uint64 | Kind::Fixed64 => Field::U64(bits),
        Kind::Message(message) => {
            Field::Message(well_known(message, rng).unwrap_or_else(|| random(message, rng)))
        }
        Kind::Bytes | Kind::Enum(_) => unreachable!("no payload has one"),
    }
}

fn well_known(message: &MessageDescriptor, rng: &mut fastrand::Rng) -> Option<DynamicMessage> {
    use crate::json::to_value;
    let free = json!({"b": [1, 2.5, null, {"c": "x\n"}], "a": true});
    let bytes = match message.full_name() {
        "google.protobuf.Duration" => {
            prost_types::Duration { seconds: rng.i64(0..99), nanos: rng.i32(0..1_000_000_000) }
                .encode_to_vec()
        }
        "google.protobuf.Timestamp" => {
            prost_types::Timestamp { seconds: rng.i64(0..4_000_000_000), nanos: 0 }.encode_to_vec()
        }
        "google.protobuf.Struct" => to_struct(free.as_object().unwrap()).encode_to_vec(),
        "google.protobuf.Value" => to_value(&free).encode_to_vec(),
        _ => return None,
    };
    Some(DynamicMessage::decode(message.clone(), bytes.as_slice()).unwrap())
}

proptest! {
    #[test]
    fn a_rendered_text_is_what_the_walk_says(seed: u64) {
        let toy = message("Toy");
        let omitted = Omitted::from(["maker", "parts.count", "parts.inner.share", "made"].map(str::to_owned));
        let renderer = Renderer::new(&toy, omitted.clone());
        let dynamic = random(&toy, &mut fastrand::Rng::with_seed(seed));
        let text = renderer.text(&toy, &dynamic.encode_to_vec()).expect("compiled");
        let walked = of_data(&dynamic, &omitted);
        prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), serde_json::from_str::<Value>(&walked.to_string()).unwrap());
        let structure = renderer.structure(&toy, &dynamic.encode_to_vec());
        prop_assert_eq!(structure, to_exact_struct(walked.as_object().unwrap()));
        // But for maps, whose order is unspecified, the text is the same to the byte.
        let has_map = dynamic.fields().any(|(field, _)| field.is_map());
        let walked = walked.to_string();
        prop_assert!(has_map || text == walked, "{}\n{}", text, walked);
    }

    #[test]
    fn what_is_no_message_of_the_type_is_left_to_others_and_never_panics(bytes: Vec<u8>) {
        let toy = message("Toy");
        let text = Renderer::new(&toy, Omitted::new()).text(&toy, &bytes);
        if let (Some(text), Ok(dynamic)) = (text, DynamicMessage::decode(toy, bytes.as_slice())) {
            let walked = of_data(&dynamic, &Omitted::new()).to_string();
            prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), serde_json::from_str::<Value>(&walked).unwrap());
        }
    }

    #[test]
    fn encoded_arguments_are_the_message_that_they_stand_for(seed: u64) {
        let asked = message("Asked");
        let dynamic = random(&asked, &mut fastrand::Rng::with_seed(seed));
        let arguments = to_arguments(&dynamic);
        let slow = DynamicMessage::deserialize(asked.clone(), Value::Object(arguments.clone()));
        if let Some(bytes) = Encoder::new(&asked).bytes(&arguments) {
            let fast = DynamicMessage::decode(asked, bytes.as_slice()).unwrap();
            prop_assert_eq!(fast, slow.unwrap());
        }
    }
}

#[test]
fn usual_arguments_are_encoded_and_unusual_ones_left_to_others() {
    let asked = message("Asked");
    let encoder = Encoder::new(&asked);
    let bytes = |value: Value| encoder.bytes(value.as_object().unwrap());
    for usual in [
        json!({"symbol": "AAPL", "limit": 5, "names": ["a", "b"], "all": true, "share": 1, "wait": "1.500s"}),
        json!({"limit": 5.0, "big": u64::MAX, "small": i64::MIN, "since": "2026-01-16T00:00:00Z", "limit": null}),
        json!({"part": {"name": "x", "inner": [{"share": 0.5}]}, "any": [1], "free": {"a": 1}}),
    ] {
        let fast =
            DynamicMessage::decode(asked.clone(), bytes(usual.clone()).expect("encoded").as_slice()).unwrap();
        assert_eq!(fast, DynamicMessage::deserialize(asked.clone(), usual.clone()).unwrap(), "{usual}");
    }
    for unusual in [
        json!({"unknown": 1}),
        json!({"limit": 3_000_000_000_u64}),
        json!({"limit": 1.5}),
        json!({"limit": "5"}),
        json!({"share": "NaN"}),
        json!({"big": -1}),
        json!({"wait": "soon"}),
        json!({"names": "a"}),
    ] {
        assert!(bytes(unusual.clone()).is_none(), "{unusual}");
    }
}

#[test]
fn a_message_that_contains_itself_has_no_compiled_form_and_is_left_to_others() {
    let doll = message_in("dolls.proto", "Doll");
    assert!(Encoder::new(&doll).bytes(&serde_json::Map::default()).is_none());
    assert!(Renderer::new(&doll, Omitted::default()).text(&doll, &[]).is_none());
}
