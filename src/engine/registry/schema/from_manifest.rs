//! Derives a schema from a manifest alone, for a tool without messages, by its `parameters` and `returns`.

use serde_json::{Map, Value};

use super::{closed_object, constraints::constrain, describe, with_dialect};
use crate::registry::{
    field_declaration::{Direction, FieldDeclaration},
    problem::Report,
};

/// Derives the schema of the declared fields.
pub(in crate::registry) fn from_manifest(
    declared: &[FieldDeclaration],
    direction: Direction,
    report: &mut Report,
) -> Value {
    with_dialect(object(declared, direction, report))
}

fn object(declared: &[FieldDeclaration], direction: Direction, report: &mut Report) -> Map<String, Value> {
    let required =
        declared.iter().filter(|it| is_required(it, direction)).map(|it| it.name.clone()).collect();
    let properties =
        declared.iter().map(|it| (it.name.clone(), property(it, direction, report).into())).collect();
    closed_object(properties, required)
}

fn is_required(declared: &FieldDeclaration, direction: Direction) -> bool {
    match direction {
        Direction::Input => declared.is_required,
        Direction::Output => !declared.is_omitted_when_absent,
    }
}

fn property(declared: &FieldDeclaration, direction: Direction, report: &mut Report) -> Map<String, Value> {
    let mut schema = shape(declared, direction, report);
    constrain(&mut schema, declared, report);
    describe(&mut schema, declared.description.as_deref());
    schema
}

fn shape(declared: &FieldDeclaration, direction: Direction, report: &mut Report) -> Map<String, Value> {
    let Some(kind) = declared.kind else { return Map::new() };
    if kind.0 == "object" && !declared.properties.is_empty() {
        return object(&declared.properties, direction, report);
    }
    let mut schema = Map::from_iter([("type".to_owned(), kind.0.into())]);
    if let (Some(items), "array") = (&declared.items, kind.0) {
        schema.insert("items".to_owned(), property(items, direction, report).into());
    }
    schema
}
