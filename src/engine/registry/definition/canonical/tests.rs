//! The form is what the libraries for both of its halves say of the same message.

use std::collections::BTreeMap;

use proptest::{collection::vec, option, prelude::*};
use prost_reflect::ReflectMessage;
use prost_types::{Duration, ListValue};

use super::*;

fn by_the_libraries(definition: &v1::ToolDefinition) -> String {
    let message = definition.transcode_to_dynamic();
    serde_json_canonicalizer::to_string(&message).expect("ProtoJSON of a definition has a form")
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Kind::NullValue(0)),
        any::<bool>().prop_map(Kind::BoolValue),
        any::<f64>().prop_filter("JSON has no other", |it| it.is_finite()).prop_map(Kind::NumberValue),
        any::<i32>().prop_map(|it| Kind::NumberValue(it.into())),
        any::<String>().prop_map(Kind::StringValue),
    ];
    let leaf = leaf.prop_map(|kind| Value { kind: Some(kind) });
    leaf.prop_recursive(3, 24, 4, |inner| {
        let list = vec(inner.clone(), 0..4).prop_map(|values| Kind::ListValue(ListValue { values }));
        let object = fields(inner).prop_map(Kind::StructValue);
        prop_oneof![list, object].prop_map(|kind| Value { kind: Some(kind) })
    })
}

/// With a taste for keys that UTF-8 and UTF-16 put in another order.
fn fields(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Struct> {
    let key = prop_oneof![any::<String>(), "[a-c\u{e000}-\u{e002}\u{10000}-\u{10002}\"\\\\]{0,3}"];
    let fields = prop::collection::btree_map(key, value, 0..5);
    fields.prop_map(|fields: BTreeMap<_, _>| Struct { fields })
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    vec(any::<String>(), 0..3)
}

fn length() -> impl Strategy<Value = Option<Duration>> {
    option::of(
        (0..1_000_000_i64, 0..1_000_000_000_i32).prop_map(|(seconds, nanos)| Duration { seconds, nanos }),
    )
}

fn parts() -> impl Strategy<Value = v1::ToolDefinition> {
    let example = (any::<String>(), option::of(fields(value())))
        .prop_map(|(description, arguments)| v1::ToolExample { description, arguments });
    let source = (any::<String>(), texts()).prop_map(|(name, sections)| v1::ToolSource { name, sections });
    let cache = (length(), any::<String>(), any::<String>()).prop_map(|(ttl, tier, scope)| v1::CachePolicy {
        ttl,
        tier,
        scope,
    });
    (vec(example, 0..3), option::of(source), option::of(cache), length()).prop_map(
        |(examples, source, cache, timeout)| v1::ToolDefinition {
            examples,
            source,
            cache,
            timeout,
            ..v1::ToolDefinition::default()
        },
    )
}

fn definition() -> impl Strategy<Value = v1::ToolDefinition> {
    let text = [(); 10].map(|()| any::<String>());
    let list = [(); 5].map(|()| texts());
    let word = (0..=6_i32, 0..=4_i32, 0..=3_i32, any::<[bool; 4]>());
    (parts(), text, list, word).prop_map(|(parts, text, list, (kind, category, level, flags))| {
        let [name, title, description, input, output, method, version, agent, approve_unless, provider] =
            text;
        let [tags, depends_on, intents, utterances, guidance] = list;
        v1::ToolDefinition {
            name,
            title,
            description,
            input_message: input,
            output_message: output,
            typed_method: method,
            version,
            tags,
            depends_on,
            intents,
            utterances,
            guidance,
            r#type: kind,
            category,
            consequence_level: level,
            requires_confirmation: flags[0],
            untrusted: flags[1],
            idempotent: flags[2],
            contained: flags[3],
            agent,
            approve_unless,
            provider,
            ..parts
        }
    })
}

fn schema() -> impl Strategy<Value = (Struct, String)> {
    (fields(value()), ".+")
}

proptest! {
    #[test]
    fn the_form_is_what_the_libraries_say(definition in definition(), input in schema(), output in schema()) {
        let [of_input, of_output] = [&input, &output].map(|(structure, text)| Schema::new(structure, text));
        let text = String::from_utf8(canonical(&definition, &of_input, &of_output)).expect("JSON is UTF-8");
        // A text that is empty is left out by the libraries, and no schema's is.
        let with_schemas = v1::ToolDefinition {
            input_schema: Some(input.0),
            output_schema: Some(output.0),
            input_schema_json: input.1,
            output_schema_json: output.1,
            ..definition
        };
        prop_assert_eq!(text, by_the_libraries(&with_schemas));
    }
}

#[test]
fn numbers_are_written_as_javascript_does() {
    for (number, expected) in [
        (1e21, "1e+21"),
        (1e-7, "1e-7"),
        (-0.0, "0"),
        (9_007_199_254_740_993.0, "9007199254740992"),
        (0.1, "0.1"),
    ] {
        let mut text = Vec::new();
        write_value(&Value { kind: Some(Kind::NumberValue(number)) }, &mut text);
        assert_eq!(String::from_utf8(text).expect("JSON is UTF-8"), expected);
    }
}
