//! What an offer becomes, and what it is refused for.

use serde_json::json;

use super::*;
use crate::bounds::{MAX_LABEL, MAX_MESSAGE, MAX_OFFERS, MAX_TITLE};
use toolwire_contract::convert;

fn offer() -> wire::Offer {
    wire::Offer {
        name: "order_status".into(),
        description: "Where an order is.".into(),
        category: v1::ToolCategory::Read.into(),
        consequence_level: v1::ConsequenceLevel::Low.into(),
        ..wire::Offer::default()
    }
}

fn check_alone(offer: &wire::Offer, strictness: Strictness) -> Result<CheckedOffer, Vec<Problem>> {
    check(offer, (strictness, Author::Host), &mut Budget::default())
}

fn with_input(schema: &Value) -> wire::Offer {
    wire::Offer { input_schema_json: schema.to_string(), ..offer() }
}

fn refused(offer: &wire::Offer) -> Vec<(String, &'static str)> {
    let problems = check_alone(offer, Strictness::Lenient).expect_err("a problem");
    problems.into_iter().map(|it| (it.pointer, it.rule)).collect()
}

fn refused_schema(schema: &Value) -> Vec<(String, &'static str)> {
    refused(&with_input(schema))
}

#[test]
fn an_offer_becomes_a_manifest_with_its_schemas_apart() {
    let schema =
        json!({"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]});
    let checked = check_alone(&with_input(&schema), Strictness::Strict).expect("good");
    assert_eq!((checked.name.as_str(), checked.warnings.len()), ("order_status", 0));
    assert_eq!(checked.manifest["category"], "read");
    assert_eq!(checked.manifest["timeout_ms"], 15_000);
    assert_eq!(checked.manifest["version"], "0.0.0");
    assert_eq!(checked.input["additionalProperties"], false, "arguments are closed");
    assert_eq!(checked.output, json!({"type": "object"}));
    let nothing = check_alone(&offer(), Strictness::Strict).expect("good");
    assert_eq!(nothing.input["properties"], json!({}));
}

#[test]
fn what_is_missing_is_a_warning_on_a_machine_of_ones_own_and_refused_elsewhere() {
    let bare = || wire::Offer { name: "t".into(), ..wire::Offer::default() };
    let pointers = |problems: &[Problem]| problems.iter().map(|it| it.pointer.clone()).collect::<Vec<_>>();
    let expected = ["/description", "/category", "/consequence_level"];
    let checked = check_alone(&bare(), Strictness::Lenient).expect("served");
    assert_eq!(pointers(&checked.warnings), expected);
    assert_eq!(checked.manifest["category"], "side_effect");
    assert_eq!(checked.manifest["idempotent"], false);
    assert_eq!(checked.manifest["consequence_level"], "high");
    assert_eq!(pointers(&check_alone(&bare(), Strictness::Strict).expect_err("refused")), expected);
}

#[test]
fn a_name_that_is_no_tools_name_is_refused() {
    for name in ["", "Order", "order-status", "1a", &"x".repeat(65)] {
        assert_eq!(
            refused(&wire::Offer { name: name.into(), ..offer() }),
            [("/name".to_owned(), "bad-name")]
        );
    }
}

#[test]
fn local_references_are_inlined_with_their_own_descriptions() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/money", "description": "What to pay."},
            "b": {"type": "array", "items": {"$ref": "#/$defs/money"}},
            "c": {"enum": [{"$ref": "#/nowhere"}]}
        },
        "$defs": {"money": {"type": "object", "properties": {"amount": {"type": "number"}}, "description": "Money."}}
    });
    let input = check_alone(&with_input(&schema), Strictness::Strict).expect("good").input;
    let money =
        json!({"type": "object", "properties": {"amount": {"type": "number"}}, "description": "Money."});
    assert_eq!(input["properties"]["b"]["items"], money);
    assert_eq!(input["properties"]["a"]["description"], "What to pay.");
    assert_eq!(input["properties"]["a"]["properties"], money["properties"]);
    assert_eq!(input["properties"]["c"]["enum"], json!([{"$ref": "#/nowhere"}]), "a value is no schema");
    assert_eq!(input.get("$defs"), None);
    let root = json!({"$ref": "#/$defs/t", "$defs": {"t": {"type": "object", "properties": {"a": {"type": "string"}}}}});
    assert_eq!(
        check_alone(&with_input(&root), Strictness::Strict).expect("good").input["properties"]["a"]["type"],
        "string"
    );
}

#[test]
fn what_providers_of_models_refuse_is_refused_naming_the_place() {
    let of = |property: &Value| json!({"type": "object", "properties": {"a": property}});
    let tree = json!({
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}}
    });
    let cases = [
        (tree, "/properties/root/properties/next/$ref", "recursive-schema"),
        (of(&json!({"$ref": "#"})), "/properties/a/properties/a/$ref", "recursive-schema"),
        (of(&json!({"type": ["text", "null"]})), "/properties/a/type", "type-list"),
        (json!({"anyOf": [{"type": "object"}]}), "/anyOf", "root-union"),
        (json!({"type": "object", "oneOf": []}), "/oneOf", "root-union"),
        (json!({"type": ["array", "null"]}), "/anyOf", "root-union"),
        (json!({"type": "array"}), "/type", "root-not-object"),
        (json!({}), "/type", "root-not-object"),
        (json!({"type": "object", "additionalProperties": true}), "/additionalProperties", "open-object"),
        (
            json!({"type": "object", "patternProperties": {".*": {}}, "additionalProperties": false}),
            "/patternProperties",
            "open-object",
        ),
        (json!({"$ref": "#/$defs/any", "$defs": {"any": true}}), "", "root-not-object"),
        (of(&json!({"$ref": "https://example.com/a.json"})), "/properties/a/$ref", "remote-ref"),
        (of(&json!({"$ref": "#/$defs/none"})), "/properties/a/$ref", "unknown-ref"),
        (of(&json!({"$dynamicRef": "#x"})), "/properties/a/$dynamicRef", "not-supported"),
    ];
    for (schema, place, rule) in cases {
        let found = refused_schema(&schema);
        assert!(found.contains(&(format!("/input_schema_json{place}"), rule)), "{schema}: {found:?}");
    }
    assert_eq!(refused_schema(&of(&json!({"pattern": "("})))[0].1, "bad-schema");
    assert_eq!(refused_schema(&json!([1])), [("/input_schema_json".to_owned(), "wrong-type")]);
    let text = wire::Offer { input_schema_json: "{".into(), ..offer() };
    assert_eq!(refused(&text), [("/input_schema_json".to_owned(), "bad-json")]);
}

#[test]
fn what_says_the_same_in_another_form_is_taken() {
    let input = |property: &Value| {
        let schema =
            json!({"type": "object", "properties": {"a": property}, "$defs": {"b": {"type": "string"}}});
        check_alone(&with_input(&schema), Strictness::Strict).expect("good").input["properties"]["a"].take()
    };
    for (before, after) in [
        (json!({"type": ["string", "null"]}), json!({"anyOf": [{"type": "string"}, {"type": "null"}]})),
        (
            json!({"type": "integer", "minimum": 3, "exclusiveMinimum": true}),
            json!({"type": "integer", "exclusiveMinimum": 3}),
        ),
        (
            json!({"type": "string", "nullable": true}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ),
        (
            json!({"$id": "https://example.com/a", "$anchor": "a", "type": "string"}),
            json!({"type": "string"}),
        ),
        (
            json!({"$ref": "#/$defs/b", "minLength": 1, "title": "A"}),
            json!({"allOf": [{"type": "string"}, {"minLength": 1}], "title": "A"}),
        ),
        (
            json!({"type": ["array", "null"], "items": {"type": ["integer", "null"]}}),
            json!({"anyOf": [
                {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
                {"type": "null"},
            ]}),
        ),
    ] {
        assert_eq!(input(&before), after, "{before}");
    }
    let root = json!({"type": ["object", "null"], "properties": {"a": {}}});
    assert_eq!(check_alone(&with_input(&root), Strictness::Strict).expect("good").input["type"], "object");
}

#[test]
fn what_a_server_wrote_for_others_is_left_to_it_with_a_warning() {
    let of = |property: &Value| json!({"type": "object", "properties": {"a": property}});
    let adapted = |schema: &Value| {
        let checked =
            check(&with_input(schema), (Strictness::Strict, Author::Server), &mut Budget::default());
        let CheckedOffer { input, warnings, .. } = checked.unwrap_or_else(|it| panic!("{schema}: {it:?}"));
        (input, warnings.into_iter().map(|it| it.rule).collect::<Vec<_>>())
    };
    let property = |property: &Value| {
        let (mut input, warnings) = adapted(&of(property));
        (input["properties"]["a"].take(), warnings)
    };
    let node = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/node", "title": "Next"}}});
    let tree =
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}});
    let (input, warnings) = adapted(&tree);
    let next = &input["properties"]["a"]["properties"]["next"];
    assert_eq!((next, warnings), (&json!({"type": "object", "title": "Next"}), vec!["recursive-schema"]));
    for (before, after, rule) in [
        (
            json!({"$ref": "https://example.com/a.json", "description": "A"}),
            json!({"description": "A"}),
            "remote-ref",
        ),
        (json!({"$ref": "#/$defs/none"}), json!({}), "unknown-ref"),
        (json!({"$dynamicRef": "#x", "type": "string"}), json!({"type": "string"}), "not-supported"),
        (json!({"type": "string", "pattern": "^(?!a)"}), json!({"type": "string"}), "pattern"),
    ] {
        assert_eq!(property(&before), (after, vec![rule]), "{before}");
    }
    let (input, warnings) = adapted(&json!({
        "oneOf": [
            {"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "string"}}, "required": ["kind", "x"]},
            {"type": "object", "properties": {"kind": {"const": "b"}, "y": {"type": "string"}}, "required": ["kind", "y"]},
        ],
        "additionalProperties": true,
        "patternProperties": {"^z": {}},
    }));
    let expected = json!({
        "type": "object",
        "properties": {
            "kind": {"anyOf": [{"const": "a"}, {"const": "b"}]}, "x": {"type": "string"}, "y": {"type": "string"}
        },
        "required": ["kind"],
        "additionalProperties": false,
    });
    assert_eq!((input, warnings), (expected, vec!["root-union", "open-object", "open-object"]));
    let (input, _) = adapted(&json!({
        "properties": {"x": {}},
        "allOf": [{"required": ["x"]}, {"properties": {"y": {"type": "string"}}, "required": ["y"]}],
    }));
    assert_eq!(
        (&input["required"], &input["properties"]["y"]["type"]),
        (&json!(["x", "y"]), &json!("string"))
    );
    for empty in [json!({}), json!({"type": "object"}), json!({"properties": {}})] {
        let (input, warnings) = adapted(&empty);
        assert_eq!((&input["additionalProperties"], warnings.len()), (&json!(false), 0), "{empty}");
    }
    let array = check(
        &with_input(&json!({"type": "array"})),
        (Strictness::Strict, Author::Server),
        &mut Budget::default(),
    );
    assert_eq!(array.expect_err("no object")[0].rule, "root-not-object");
}

#[test]
fn a_schema_that_grows_without_a_bound_is_refused() {
    let mut definitions = json!({"d0": {"type": "string", "description": "x".repeat(1_000)}});
    for level in 1..12 {
        let below = json!({"$ref": format!("#/$defs/d{}", level - 1)});
        let members: Map<_, _> = (0..10).map(|at| (format!("m{at}"), below.clone())).collect();
        definitions[format!("d{level}")] = json!({"type": "object", "properties": members});
    }
    let schema =
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d11"}}, "$defs": definitions});
    assert_eq!(refused_schema(&schema).iter().map(|it| it.1).collect::<Vec<_>>(), ["schema-too-large"]);
    let mut deep = json!({"type": "string"});
    for _ in 0..40 {
        deep = json!({"type": "array", "items": deep});
    }
    assert_eq!(
        refused_schema(&json!({"type": "object", "properties": {"a": deep}}))[0].1,
        "schema-too-large"
    );
}

#[test]
fn conditions_bound_arguments_and_caches_are_handed_on_as_a_manifest_has_them() {
    let rich = wire::Offer {
        approve_unless: r#"{"amount": {"maximum": 100}}"#.into(),
        bind: [("account".to_owned(), "user.id".to_owned())].into(),
        cache: Some(v1::CachePolicy {
            ttl: Some(convert::duration(Duration::from_mins(1))),
            tier: "request".into(),
            scope: "user".into(),
        }),
        ..offer()
    };
    let manifest = check_alone(&rich, Strictness::Strict).expect("good").manifest;
    assert_eq!(manifest["approve_unless"], json!({"amount": {"maximum": 100}}));
    assert_eq!(manifest["parameters"], json!({"account": {"type": "string", "bind": "user.id"}}));
    assert_eq!(manifest["cache"], json!({"ttl": "60000ms", "tier": "request", "scope": "user"}));
    for (text, rule) in [("{", "bad-json"), ("[]", "wrong-type")] {
        let offer = wire::Offer { approve_unless: text.into(), ..offer() };
        assert_eq!(refused(&offer), [("/approve_unless".to_owned(), rule)]);
    }
}

#[test]
fn what_is_referred_to_often_is_counted_before_it_is_copied() {
    let long = "x".repeat(150_000);
    let of = |annotated: &Value, definition: &Value| {
        let members: Map<_, _> = (0..1_000).map(|at| (format!("m{at}"), annotated.clone())).collect();
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/all"}, "b": {"$ref": "#/$defs/all"}},
            "$defs": {"all": {"type": "object", "properties": members}, "long": definition}})
    };
    let reference = json!({"$ref": "#/$defs/long"});
    let beside = json!({"$ref": "#/$defs/deep", "description": "y".repeat(60)});
    let cases = [
        of(&reference, &json!({"description": long})),
        of(&reference, &json!({"$ref": "#/$defs/other", "description": long})),
        of(&reference, &json!({"type": "object", "properties": {&*long: {}}})),
        of(&reference, &json!({"not": long})),
        of(&reference, &json!({"items": [1, long]})),
        of(&reference, &json!(long)),
        of(&beside, &json!({})),
    ];
    for schema in cases {
        let rules: Vec<_> = refused_schema(&schema).into_iter().map(|it| it.1).collect();
        assert!(rules.iter().any(|it| ["schema-too-large", "unknown-ref"].contains(it)), "{rules:?}");
        assert!(rules.len() <= MAX_PROBLEMS);
    }
}

#[test]
fn problems_are_few_and_short_and_those_of_a_whole_catalogue_fit_into_a_message() {
    let long = "x".repeat(5_000);
    let members: Map<_, _> = (0..40).map(|at| (format!("{long}{at}"), json!({"type": ["text"]}))).collect();
    let offer = with_input(&json!({"type": "object", "properties": members}));
    let problems = check_alone(&offer, Strictness::Lenient).expect_err("refused");
    assert_eq!(problems.len(), MAX_PROBLEMS);
    assert!(problems.iter().all(|it| it.pointer.len() <= MAX_PROBLEM_TEXT), "{problems:?}");
    let longest = Problem::new(&*long, "type-list", &*long);
    let verdict =
        verdict(&long, &vec![longest; MAX_PROBLEMS], wire::VerdictState::Refused).expect("problems");
    assert!(!verdict.problems.is_empty());
    assert!((verdict.encoded_len() + 8) * MAX_OFFERS < MAX_MESSAGE, "{}", verdict.encoded_len());
}

#[test]
fn patterns_are_bounded_each_and_in_number() {
    let of = |pattern: &str, count: usize| {
        let member = |at| (format!("m{at}"), json!({"type": "string", "pattern": pattern}));
        json!({"type": "object", "properties": (0..count).map(member).collect::<Map<_, _>>()})
    };
    let taken = |schema: &Value| check_alone(&with_input(schema), Strictness::Strict).map(drop);
    for usual in
        [r"^\w+([.-]\w+)*@\w+([.-]\w+)*$", r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$", r"^[^\s/]{1,128}$"]
    {
        assert_eq!(taken(&of(usual, 20)), Ok(()), "{usual}");
    }
    assert_eq!(refused_schema(&of("^(a{100}){1000}$", 1))[0].1, "bad-schema");
    assert_eq!(refused_schema(&of(r"^\w+$", 100))[0].1, "schema-too-large");
    let mut conditions: Map<_, _> = Map::new();
    conditions.extend((0..100).map(|at| (format!("m{at}"), json!({"pattern": "^a"}))));
    let conditional = wire::Offer { approve_unless: Value::from(conditions).to_string(), ..offer() };
    assert_eq!(refused(&conditional), [("/approve_unless".to_owned(), "schema-too-large")]);
}

#[test]
fn patterns_of_a_catalogue_count_by_their_size() {
    // A tenth of a catalogue with a tenth of its budget.
    const OFFERS: usize = MAX_OFFERS / 10;
    let taken = |input: &str, output: &str| {
        let of = |pattern: &str| {
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}).to_string()
        };
        let offer = wire::Offer { input_schema_json: of(input), output_schema_json: of(output), ..offer() };
        let mut budget = Budget(MAX_PARTS / 10);
        (0..OFFERS).filter(|_| check(&offer, (Strictness::Strict, Author::Host), &mut budget).is_ok()).count()
    };
    let uuid = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
    assert_eq!(taken(r"^\w+([.-]\w+)*@\w+([.-]\w+)*$", uuid), OFFERS);
    assert_eq!(taken(r"^[A-Z]-[0-9]+$", r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?$"), OFFERS);
    // Each takes some hundred KiB, and the memory of a catalogue is bounded.
    let large = "^(a{100}){60}$";
    let count = taken(large, large);
    assert!((20..30).contains(&count), "{count}");
}

#[test]
fn one_offer_and_what_it_lists_are_bounded() {
    let example = v1::ToolExample { description: "x".repeat(MAX_EXAMPLES), ..v1::ToolExample::default() };
    let tags = || vec!["t".to_owned(); MAX_ENTRIES + 1];
    for (offer, pointer, rule) in [
        (wire::Offer { title: "x".repeat(MAX_OFFER), ..offer() }, "", "too-large"),
        (
            wire::Offer { description: "x".repeat(MAX_DESCRIPTION + 1), ..offer() },
            "/description",
            "too-large",
        ),
        (wire::Offer { tags: tags(), ..offer() }, "/tags", "too-many"),
        (wire::Offer { guidance: tags(), ..offer() }, "/guidance", "too-many"),
        (wire::Offer { examples: vec![example], ..offer() }, "/examples", "too-large"),
        (
            wire::Offer {
                bind: (0..=MAX_ENTRIES).map(|at| (at.to_string(), "user.id".into())).collect(),
                ..offer()
            },
            "/bind",
            "too-many",
        ),
    ] {
        assert_eq!(refused(&offer), [(pointer.to_owned(), rule)]);
    }
}

#[test]
fn labels_are_one_line_of_characters_that_are_seen() {
    let title = |title: &str| wire::Offer { title: title.to_owned(), ..offer() };
    let tag = |tag: &str| wire::Offer { tags: vec!["shop".to_owned(), tag.to_owned()], ..offer() };
    let version = |version: &str| wire::Offer { version: version.to_owned(), ..offer() };
    for unseen in ["a\nb", "a\tb", "a\rb", "\u{1b}[2Ja", "a\u{202e}b", "a\u{2028}b", "\u{200b}", "\u{feff}a"]
    {
        assert_eq!(refused(&title(unseen)), [("/title".to_owned(), "bad-text")], "{unseen:?}");
        assert_eq!(refused(&tag(unseen)), [("/tags/1".to_owned(), "bad-text")], "{unseen:?}");
        assert_eq!(refused(&version(unseen)), [("/version".to_owned(), "bad-text")], "{unseen:?}");
    }
    assert_eq!(refused(&title(&"é".repeat(MAX_TITLE + 1))), [("/title".to_owned(), "too-large")]);
    assert_eq!(refused(&tag(&"é".repeat(MAX_LABEL + 1))), [("/tags/1".to_owned(), "too-large")]);
    for seen in
        ["Plan a delivery", "⚠️ Löschen", "می\u{200c}خواهم", "👩\u{200d}🔧 Repair", &"é".repeat(MAX_TITLE)]
    {
        let offer = check(&title(seen), (Strictness::Strict, Author::Host), &mut Budget::default()).unwrap();
        assert_eq!(offer.manifest["title"], seen);
    }
}

#[test]
fn labels_of_a_server_are_cleaned_with_a_warning() {
    let title = format!("Pay\n\u{202e}now {}", "x".repeat(MAX_TITLE));
    let offer = wire::Offer { title, tags: vec!["a\tb".to_owned()], ..offer() };
    let offer = check(&offer, (Strictness::Strict, Author::Server), &mut Budget::default()).unwrap();
    let title = format!("Pay now {}", "x".repeat(MAX_TITLE - "Pay now ".len()));
    assert_eq!((&offer.manifest["title"], &offer.manifest["tags"]), (&json!(title), &json!(["a b"])));
    let warnings: Vec<_> = offer.warnings.iter().map(|it| (&*it.pointer, it.rule)).collect();
    assert_eq!(warnings, [("/title", "too-large"), ("/tags/0", "bad-text")]);
}

#[test]
fn the_parts_of_a_catalogue_are_bounded() {
    let member = |at| (format!("m{at}"), json!({"type": "string"}));
    let offer =
        with_input(&json!({"type": "object", "properties": (0..5_000).map(member).collect::<Map<_, _>>()}));
    let mut budget = Budget::default();
    let taken =
        (0..100).filter(|_| check(&offer, (Strictness::Strict, Author::Host), &mut budget).is_ok()).count();
    assert!((10..=40).contains(&taken), "{taken}");
    assert!(
        check(&super::tests::offer(), (Strictness::Strict, Author::Host), &mut budget).is_ok(),
        "one without a schema"
    );
}
