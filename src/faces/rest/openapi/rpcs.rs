//! An operation for each row of the table, described by the comments of its RPC.

use prost_reflect::{Kind, MessageDescriptor};
use serde_json::{Value, json};

use super::{
    paths::Paths,
    problems::problems,
    schema::{Schemas, comment, described},
};
use crate::faces::rest::{
    fixed::{Form, ROWS, Row},
    read, transcode,
};

/// Adds every row.
pub(super) fn add(paths: &mut Paths, schemas: &mut Schemas) {
    for row in ROWS {
        let path = row.path.replace("{*", "{");
        let method = row.method.http().as_str().to_lowercase();
        let operation = operation(row, schemas);
        paths.add(&path, &method, operation);
    }
}

fn operation(row: &Row, schemas: &mut Schemas) -> Value {
    let method = transcode::described(row);
    let input = match row.form {
        Form::Upload => transcode::POOL.get_message_by_name("toolwire.workspace.v1.PutHeader"),
        _ => Some(method.input()),
    };
    let input = input.expect("a message of the platform");
    let text = comment(&method.parent_file(), method.path());
    let mut operation = json!({
        "operationId": id(row),
        "summary": text.split_inclusive(". ").next().unwrap_or_default().trim(),
        "description": text,
        "tags": ["platform"],
        "parameters": parameters(row, &input, schemas),
        "responses": {"200": answer(row, &method.output(), schemas)},
    });
    match row.form {
        Form::Upload => {
            operation["requestBody"] = json!({"required": true, "content": {"*/*": {}}});
        }
        _ if !row.is_queried() => {
            let schema = schemas.reference(&input);
            operation["requestBody"] =
                json!({"required": false, "content": {"application/json": {"schema": schema}}});
        }
        _ => {}
    }
    if row.form == Form::Document {
        operation["responses"]["304"] = json!({"description": "Nothing has changed."});
    }
    problems(&mut operation["responses"]);
    operation
}

/// The name of the RPC, which no tool can have, and more where a second path has it.
fn id(row: &Row) -> String {
    let name = row.rpc.1;
    let is_only = ROWS.iter().filter(|it| it.rpc == row.rpc).count() == 1;
    if is_only || row.path.contains('{') { name.to_owned() } else { format!("{name}Any") }
}

fn parameters(row: &Row, input: &MessageDescriptor, schemas: &mut Schemas) -> Vec<Value> {
    let in_path: Vec<_> =
        row.path.split('/').filter_map(|part| part.strip_prefix('{')?.split('}').next()).collect();
    let in_path: Vec<_> = in_path.into_iter().map(|name| name.trim_start_matches('*')).collect();
    let mut parameters: Vec<_> = in_path.iter().map(|name| {
        json!({"name": name, "in": "path", "required": true, "schema": {"type": "string", "minLength": 1}})
    }).collect();
    if row.is_queried() {
        let queried = queried(input.full_name(), schemas);
        parameters.extend(queried.into_iter().filter(|it| !in_path.iter().any(|name| it["name"] == **name)));
    }
    parameters.push(json!({"$ref": "#/components/parameters/Timeout"}));
    if input.get_field_by_name("request_id").is_some() {
        parameters.push(json!({"$ref": "#/components/parameters/IdempotencyKey"}));
    }
    parameters
}

/// What the query of a request may name.
pub(super) fn queried(message: &str, schemas: &mut Schemas) -> Vec<Value> {
    let message = transcode::POOL.get_message_by_name(message).expect("a message of the platform");
    let mut parameters = Vec::new();
    for field in read::fields(&message) {
        let is_nested =
            matches!(field.kind(), Kind::Message(it) if !it.full_name().starts_with("google.protobuf"));
        // What is named by its key or its parts.
        if field.is_map() || is_nested {
            continue;
        }
        let schema = schemas.field(&field);
        let parameter = json!({"name": field.name(), "in": "query", "required": false, "schema": schema});
        parameters.push(described(parameter, &comment(&field.parent_file(), field.path())));
    }
    parameters
}

fn answer(row: &Row, output: &MessageDescriptor, schemas: &mut Schemas) -> Value {
    match row.form {
        Form::Events => json!({
            "description": "Events as they come; the data of each is JSON.",
            "content": {"text/event-stream": {}},
        }),
        Form::Document => json!({"description": "The bytes of the document.", "content": {"*/*": {}}}),
        Form::Message | Form::Free | Form::Upload => json!({
            "description": "What came of it.",
            "content": {"application/json": {"schema": schemas.reference(output)}},
        }),
    }
}
