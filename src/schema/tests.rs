//! What a check says is what the validator says; what it takes is bounded by the value.

use std::collections::BTreeSet;

use allocation_counter::measure;
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};

use super::*;

const MIB: u64 = 1024 * 1024;
const OF_OTHERS: Options = Options { max_pattern: Some(512 * 1024), explains_branches: false };

fn compile(schema: &Value) -> Schema {
    Schema::compile(schema, OF_OTHERS).expect("a schema")
}

/// The violations of a value, by keyword and place, and whether the check was refused.
fn check(schema: &Value, value: &Value) -> Result<Vec<(String, String)>, TooMuchWork> {
    let schema = compile(schema);
    match schema.check(value, usize::MAX, Work::all()) {
        Ok(()) => Ok(Vec::new()),
        Err(Misfit::Broken(breaches)) => {
            let mut all: Vec<_> =
                breaches.iter().map(|it| (it.keyword().to_owned(), it.pointer().to_owned())).collect();
            all.sort();
            Ok(all)
        }
        Err(Misfit::TooMuchWork) => Err(TooMuchWork),
    }
}

/// The number of violations, what the value takes, and what its check takes beside it, in bytes.
fn taken(schema: &Value, text: &str) -> (Result<usize, TooMuchWork>, u64, u64) {
    let schema = compile(schema);
    let mut value = Value::Null;
    let decoded = measure(|| value = serde_json::from_str(text).expect("JSON")).bytes_current;
    let mut found = Ok(0);
    let taken = measure(|| {
        found = match schema.check(&value, 100, Work::all()) {
            Ok(()) => Ok(0),
            Err(Misfit::Broken(breaches)) => Ok(breaches.iter().count()),
            Err(Misfit::TooMuchWork) => Err(TooMuchWork),
        };
    });
    (found, u64::try_from(decoded).expect("more than before"), taken.bytes_max)
}

fn closed(properties: &Value) -> Value {
    json!({"type": "object", "additionalProperties": false, "properties": properties})
}

/// As many elements as a text of a size has.
fn list(element: &str, bytes: usize) -> String {
    format!("{{\"a\": [{}]}}", vec![element; bytes / (element.len() + 1)].join(","))
}

/// What a check finds, once it is known that it takes no more memory than the value does, and a MiB.
#[expect(clippy::print_stdout, reason = "a table of the bounds, which `--nocapture` shows")]
fn assert_bounded(what: &str, schema: &Value, text: &str) -> Result<usize, TooMuchWork> {
    let (found, decoded, taken) = taken(schema, text);
    let said = found.map_or("refused".to_owned(), |count| format!("{count} violations"));
    println!(
        "{what}: {} KiB of text, {} KiB decoded, {} KiB for the check: {said}",
        text.len() / 1024,
        decoded / 1024,
        taken / 1024
    );
    assert!(taken <= decoded + MIB, "{what}: {taken} bytes for a value of {decoded}");
    found
}

#[test]
fn the_memory_of_a_union_is_bounded_by_the_value_whatever_the_number_of_branches() {
    for branches in [1, 16, 128, 1_024] {
        for kib in [1, 100, 900, 3_000] {
            let text = list("[[1]]", kib * 1024);
            let of_another_type = closed(&json!({"a": {"anyOf": vec![json!({"type": "string"}); branches]}}));
            let found =
                assert_bounded(&format!("{branches} branches of another type"), &of_another_type, &text);
            assert_eq!(found, Ok(1));
        }
        let last =
            json!({"items": {"items": {"items": {"type": "integer"}}}, "contains": {"type": "string"}});
        let reading = closed(&json!({"a": {"anyOf": vec![last; branches]}}));
        for kib in if branches > 16 { [1, 900] } else { [1, 100] } {
            let text = list("[[1]]", kib * 1024);
            let found = assert_bounded(&format!("{branches} branches that read all"), &reading, &text);
            let is_too_much = branches * kib > 110_000;
            assert_eq!(found, if is_too_much { Err(TooMuchWork) } else { Ok(1) }, "{branches} x {kib}");
        }
    }
}

#[test]
fn an_ordinary_union_takes_a_result_of_three_mib() {
    let branch = |kind: usize| {
        closed(
            &json!({"kind": {"const": kind}, "name": {"type": "string", "pattern": "^[a-z ]{1,64}$"}, "at": {"format": "date-time"}, "sizes": {"items": {"type": "number"}}}),
        )
    };
    let schema = json!({"type": "object", "properties": {"a": {"items": {"anyOf": (0..16).map(branch).collect::<Vec<_>>()}}}});
    let text = list(
        r#"{"kind":15,"name":"of the last branch","at":"2026-01-15T10:30:00Z","sizes":[1,2.5,3]}"#,
        3_000 * 1024,
    );
    assert_eq!(assert_bounded("16 branches of objects", &schema, &text), Ok(0));
    // Each reads all of many small values.
    let last = |kind: usize| json!({"items": {"items": {"items": {"type": "integer"}}}, "contains": {"const": kind}});
    let schema = closed(&json!({"a": {"anyOf": (0..16).map(last).collect::<Vec<_>>()}}));
    assert_eq!(assert_bounded("16 branches of lists", &schema, &list("[[1]]", 2_900 * 1024)), Ok(1));
}

#[test]
fn errors_end_at_the_hundredth() {
    for required in [1, 5, 20, 200] {
        let names: Vec<_> = (0..required).map(|at| format!("member_{at}")).collect();
        let schema = closed(&json!({"a": {"items": {"required": names}}}));
        for kib in [1, 100, 900, 3_000] {
            let found =
                assert_bounded(&format!("{required} required members"), &schema, &list("{}", kib * 1024));
            assert_eq!(found, Ok(100));
        }
    }
    let unknown: Vec<_> = (0..100_000).map(|at| format!("\"unknown_{at}\":0")).collect();
    let text = format!("{{\"a\": {{{}}}}}", unknown.join(","));
    for (what, schema) in [
        ("names of unknown members", closed(&json!({}))),
        ("the same, 100 times over", json!({"allOf": vec![closed(&json!({})); 100]})),
        ("unevaluated members", json!({"unevaluatedProperties": false})),
        ("names of members", json!({"propertyNames": {"maxLength": 1}})),
        (
            "names and patterns",
            json!({"patternProperties": {"^x": true, "^[yz]+$": true}, "additionalProperties": false}),
        ),
    ] {
        assert!(
            assert_bounded(what, &closed(&json!({"a": schema})), &text).is_ok_and(|found| found > 0),
            "{what}"
        );
    }
}

#[test]
fn the_first_violation_may_be_of_a_name() {
    for names in [json!({"maxLength": 1}), json!({"enum": ["a"]}), json!({"pattern": "^a$", "maxLength": 1})]
    {
        let schema = compile(&closed(&json!({"a": {"propertyNames": names}})));
        let value = json!({"a": {"aaa": 1, "bbb": 2}});
        let Err(Misfit::Broken(broken)) = schema.check(&value, 1, Work::all()) else { panic!("{names}") };
        assert_eq!(broken.first().name(), Some("aaa"), "{names}");
    }
}

#[test]
fn what_could_take_more_than_the_value_is_metered() {
    let a = |schema: Value| closed(&json!({"a": schema}));
    // All trees of empty lists: to a hash of the leaves alone they are equal.
    let mut trees = vec!["[]".to_owned()];
    for at in 0..120 {
        let joined: Vec<_> = trees[..=at].iter().map(|it| format!("[{},{it}]", trees[at])).collect();
        trees.extend(joined);
        trees.push(format!("[{}]", trees[at]));
    }
    let distinct: BTreeSet<_> = trees.into_iter().collect();
    let distinct = format!("{{\"a\": [{}]}}", distinct.into_iter().collect::<Vec<_>>().join(","));
    assert_eq!(assert_bounded("unique trees", &a(json!({"uniqueItems": true})), &distinct), Ok(0));
    let text = |text: &str| json!({"a": text}).to_string();
    let bits: String = (0..900_000_u64)
        .map(|at| if at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 63 == 0 { '0' } else { '1' })
        .collect();
    // Any of the last thousand characters may be the one.
    let pattern = a(json!({"pattern": "^[01]*1[01]{1000}x$"}));
    assert_eq!(assert_bounded("a pattern at many positions", &pattern, &text(&bits)), Err(TooMuchWork));
    let named = a(json!({"patternProperties": {"^[01]*1[01]{1000}x$": true}}));
    assert_eq!(
        assert_bounded("one of names", &named, &format!("{{\"a\": {{\"{bits}\": 1}}}}")),
        Err(TooMuchWork)
    );
    let base64 = a(json!({"pattern": "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"}));
    assert_eq!(assert_bounded("an ordinary pattern", &base64, &text(&"QUJD".repeat(700_000))), Ok(0));
    assert_eq!(
        assert_bounded("a text as a pattern", &a(json!({"format": "regex"})), &text(&"(".repeat(900_000))),
        Ok(1)
    );
    let options: Vec<_> = (0..2_000).map(|at| json!([[0, 0, 0, 0, at]])).collect();
    assert_eq!(
        assert_bounded(
            "choices that are alike",
            &a(json!({"items": {"enum": options}})),
            &list("[[0,0,0,0,1999]]", 900_000)
        ),
        Err(TooMuchWork)
    );
    let members: serde_json::Map<String, Value> =
        (0..4_000).map(|at| (format!("m{at}"), json!({"type": "string"}))).collect();
    assert_eq!(
        assert_bounded(
            "many members",
            &a(json!({"items": {"properties": members}})),
            &list(r#"{"m1":"x"}"#, 900_000)
        ),
        Ok(0)
    );
    let mut nested = json!({"type": "string"});
    for _ in 0..10 {
        nested = json!({"anyOf": [nested, nested]});
    }
    assert_eq!(assert_bounded("unions in unions", &a(nested), &list("[[1]]", 900_000)), Ok(1));
}

#[test]
fn what_is_found_before_the_work_is_too_much_is_told() {
    let wide: Vec<_> = (1..=1_000).rev().map(|least| json!({"minimum": least})).collect();
    let schema = json!({"properties": {"n": {"type": "string"}, "a": {"items": {"anyOf": wide}}}});
    let (schema, little) = (compile(&schema), Work(64 * 1024));
    // The first violation is found at once, the others one after the other.
    let value = json!({"n": 1, "a": vec![0; 10_000]});
    let Err(Misfit::Broken(breaches)) = schema.check(&value, 100, little) else { panic!("not found") };
    let first = breaches.first();
    assert_eq!((first.pointer(), &*first.to_string()), ("/n", "1 is not of type \"string\""));
    let others: Vec<_> = breaches.iter().skip(1).map(|it| (it.keyword(), it.pointer().to_owned())).collect();
    assert!((1..99).contains(&others.len()), "{}", others.len());
    let expected = |at| ("anyOf", format!("/a/{at}"));
    assert_eq!(others, (0..others.len()).map(expected).collect::<Vec<_>>());
    // Of what fits, if at all, in the end, nothing is known.
    let value = json!({"n": "1", "a": vec![1; 10_000]});
    assert!(matches!(schema.check(&value, 100, little), Err(Misfit::TooMuchWork)));
    assert_eq!(schema.accepts(&value, &mut { little }), Err(TooMuchWork));
    assert_eq!(schema.accepts(&value, &mut Work::all()), Ok(true));
}

#[test]
fn a_breach_says_what_and_where_without_the_value() {
    let schema = compile(&json!({
        "properties": {
            "a": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "b": {"not": {"type": "array"}},
            "c": {"pattern": "^x"},
            "d": {"propertyNames": {"maxLength": 3}},
            "e": {"items": {"type": "integer"}}
        }
    }));
    let value = json!({"a": [1, 2], "b": [], "c": "y".repeat(200), "d": {"long name": 1}, "e": [1, 2.5]});
    let Err(Misfit::Broken(breaches)) = schema.check(&value, 100, Work::all()) else { panic!("it fits") };
    let said: Vec<_> = breaches.iter().map(|it| (it.pointer(), it.to_string())).collect();
    let long = format!("\"{}…\" does not match \"^x\"", "y".repeat(MAX_QUOTED));
    let expected = [
        ("/a", "a list of 2 is not valid under the schemas listed in the 'anyOf' keyword"),
        ("/b", "a list of 0 is not allowed"),
        ("/c", &*long),
        ("/d", "\"long name\" is longer than 3 characters"),
        ("/e/1", "2.5 is not of type \"integer\""),
    ];
    assert_eq!(said, expected.map(|(pointer, text)| (pointer, text.to_owned())));
    assert_eq!(breaches.iter().find_map(Breach::name), Some("long name"));
    assert_eq!(breaches.iter().find_map(Breach::pattern), Some("^x"));
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..3).prop_map(Value::from),
        select(vec![
            json!(0.0),
            json!(1.0),
            json!(1.5),
            json!(u64::MAX),
            json!(i64::MIN),
            json!(1e19),
            json!(1e300)
        ]),
        select(vec!["", "a", "ab", "2026-01-01", "x-y"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let members = vec((select(vec!["a", "b", "c", "d"]), inner.clone()), 0..4);
        prop_oneof![
            vec(inner, 0..4).prop_map(Value::from),
            members.prop_map(|all| all
                .into_iter()
                .map(|(name, it)| (name.to_owned(), it))
                .collect::<serde_json::Map<_, _>>()
                .into()),
        ]
    })
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        select(vec!["object", "array", "string", "integer", "number", "boolean", "null"])
            .prop_map(|it| json!({"type": it})),
        value().prop_map(|it| json!({"const": it})),
        vec(value(), 1..4).prop_map(|it| json!({"enum": it})),
        select(vec![
            json!({"minimum": 1}),
            json!({"exclusiveMaximum": 1}),
            json!({"multipleOf": 0.5}),
            json!({"minLength": 1, "maxLength": 2}),
            json!({"pattern": "^[ab]+$"}),
            json!({"pattern": "^a"}),
            json!({"format": "date"}),
            json!({"format": "regex"}),
            json!({"uniqueItems": true}),
            json!({"minItems": 1, "maxItems": 2}),
            json!({"minProperties": 1, "maxProperties": 2}),
            json!({"required": ["a", "b"]}),
            json!({"required": ["a", "b", "c"]}),
            json!({"dependentRequired": {"a": ["b"]}}),
        ]),
    ];
    leaf.prop_recursive(3, 32, 4, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            two.clone()
                .prop_map(|(a, b)| json!({"properties": {"a": a, "b": b}, "additionalProperties": false})),
            two.clone().prop_map(
                |(a, b)| json!({"properties": {"a": a}, "additionalProperties": b, "required": ["a"]})
            ),
            two.clone().prop_map(
                |(a, b)| json!({"patternProperties": {"^a": a, "[bc]": b}, "additionalProperties": false})
            ),
            two.clone().prop_map(|(a, b)| json!({"prefixItems": [a], "items": b})),
            two.clone().prop_map(|(a, b)| json!({"if": a, "then": b})),
            two.clone().prop_map(
                |(a, b)| json!({"anyOf": [a, b], "unevaluatedProperties": false, "unevaluatedItems": false})
            ),
            two.prop_map(|(a, b)| json!({"allOf": [a, b]})),
            vec(inner.clone(), 1..4).prop_map(|all| json!({"anyOf": all})),
            vec(inner.clone(), 1..4).prop_map(|all| json!({"oneOf": all})),
            inner.clone().prop_map(|it| json!({"items": it})),
            inner.clone().prop_map(|it| json!({"contains": it, "maxContains": 1})),
            inner.clone().prop_map(|it| json!({"propertyNames": it})),
            inner.clone().prop_map(|it| json!({"dependentSchemas": {"a": it}})),
            inner.prop_map(|it| json!({"not": it})),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// Metering changes no answer: every schema says of every value what the validator says of it by itself.
    #[test]
    fn a_check_says_what_the_validator_says(schema in schema(), values in vec(value(), 1..6)) {
        let plain = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .should_validate_formats(true)
            .with_pattern_options(PatternOptions::regex())
            .build(&schema)
            .expect("a schema");
        for value in values {
            let mut expected: Vec<_> = plain
                .iter_errors(&value)
                .map(|error| (error.kind().keyword().to_owned(), error.instance_path().as_str().to_owned()))
                .collect();
            expected.sort();
            prop_assert_eq!(check(&schema, &value), Ok(expected), "{} of {}", schema, value);
            prop_assert_eq!(compile(&schema).accepts(&value, &mut Work::all()), Ok(plain.is_valid(&value)));
        }
    }
}
