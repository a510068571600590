//! An operation for each row of the table, described by the comments of its RPC.

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};
use serde_json::{Value, json};

use super::{
    paths::Paths,
    problems::problems,
    requests::{self, is_open, is_required},
    schema::{Schemas, comment, with_description},
};
use crate::faces::{
    http::rpc_route::{ResponseForm, RpcRoute},
    rest::{
        read,
        transcode::{self, PRECONDITION},
    },
};

/// The field of the idempotency key.
const KEY: &str = "request_id";

pub(super) fn add(rows: &[RpcRoute], paths: &mut Paths, schemas: &mut Schemas) {
    for row in rows {
        let path = row.path.replace("{*", "{");
        let method = row.method.http().as_str().to_lowercase();
        let is_only = rows.iter().filter(|it| it.rpc == row.rpc).count() == 1;
        let operation = operation(row, &id(row, is_only), schemas);
        paths.add(&path, &method, operation);
    }
}

fn operation(row: &RpcRoute, id: &str, schemas: &mut Schemas) -> Value {
    let method = transcode::method_descriptor(row);
    let input = transcode::input(row);
    let text = comment(&method.parent_file(), method.path());
    let mut operation = json!({
        "operationId": id,
        "summary": text.split_inclusive(". ").next().unwrap_or_default().trim(),
        "description": text,
        "tags": ["platform"],
        "parameters": parameters(row, &input, schemas),
        "responses": {"200": answer(row, &method.output(), schemas)},
    });
    match row.form {
        ResponseForm::Upload => {
            operation["requestBody"] = json!({"required": true, "content": {"*/*": {}}});
        }
        _ if !row.is_queried() => {
            let schema = requests::body(schemas, &input, &elsewhere(row, &input));
            let is_required = schema.get("required").or(schema.get("allOf")).is_some();
            operation["requestBody"] =
                json!({"required": is_required, "content": {"application/json": {"schema": schema}}});
        }
        _ => {}
    }
    if transcode::has_precondition(row) {
        operation["responses"]["200"]["headers"] = json!({"ETag": {"schema": {"type": "string"}}});
    }
    if matches!(row.form, ResponseForm::Document | ResponseForm::Tagged) {
        operation["responses"]["304"] = json!({"description": "Nothing has changed."});
    }
    problems(&mut operation["responses"]);
    operation
}

/// The name of the RPC, which no tool can have. Of two routes of one RPC the one without a parameter gets a suffix.
fn id(row: &RpcRoute, is_only: bool) -> String {
    let name = row.rpc.1;
    if is_only || row.path.contains('{') { name.to_owned() } else { format!("{name}Any") }
}

fn parameters(row: &RpcRoute, input: &MessageDescriptor, schemas: &mut Schemas) -> Vec<Value> {
    let mut parameters: Vec<_> = in_path(row)
        .map(|name| {
            let field = input.get_field_by_name(name).expect("paths name fields");
            let mut schema = requests::value(schemas, &field);
            if schema["type"] == "string" && schema.get("minLength").is_none() {
                schema["minLength"] = 1.into();
            }
            let text = comment(&field.parent_file(), field.path());
            with_description(json!({"name": name, "in": "path", "required": true, "schema": schema}), &text)
        })
        .collect();
    let elsewhere = elsewhere(row, input);
    if row.is_queried() {
        parameters.extend(query_parameters(input, &elsewhere, schemas));
    }
    parameters.push(json!({"$ref": "#/components/parameters/Timeout"}));
    if let Some(key) = key(input).filter(|_| elsewhere.iter().any(|name| name == KEY)) {
        let which = if is_required(&key) { "RequiredKey" } else { "IdempotencyKey" };
        parameters.push(json!({"$ref": format!("#/components/parameters/{which}")}));
    }
    if transcode::has_precondition(row) {
        let names = ["IfMatchDocument", "IfNoneMatchDocument"];
        parameters.extend(names.map(|name| json!({"$ref": format!("#/components/parameters/{name}")})));
    }
    parameters
}

fn in_path(row: &RpcRoute) -> impl Iterator<Item = &'static str> + use<> {
    let parts = row.path.split('/').filter_map(|part| part.strip_prefix('{')?.split('}').next());
    parts.map(|name| name.trim_start_matches('*'))
}

/// The idempotency key, which a header gives.
fn key(input: &MessageDescriptor) -> Option<FieldDescriptor> {
    input.get_field_by_name(KEY)
}

/// The fields that the path or a header gives.
fn elsewhere(row: &RpcRoute, input: &MessageDescriptor) -> Vec<String> {
    let mut names: Vec<_> = in_path(row).map(str::to_owned).collect();
    // Unless the path names the call, of which the key is the other name.
    if key(input).is_some_and(|key| is_open(&key, &names)) {
        names.push(KEY.to_owned());
    }
    names.push(PRECONDITION.to_owned());
    names
}

/// The parameters that the query of a request may have, without the fields that are given elsewhere.
pub(super) fn query_parameters(
    input: &MessageDescriptor,
    elsewhere: &[String],
    schemas: &mut Schemas,
) -> Vec<Value> {
    let mut parameters = Vec::new();
    for field in read::fields(input).into_iter().filter(|field| is_open(field, elsewhere)) {
        let is_nested =
            matches!(field.kind(), Kind::Message(it) if !it.full_name().starts_with("google.protobuf"));
        // OpenAPI has no form for names with a key or a path.
        if field.is_map() || is_nested {
            continue;
        }
        let schema = requests::value(schemas, &field);
        let parameter =
            json!({"name": field.name(), "in": "query", "required": is_required(&field), "schema": schema});
        parameters.push(with_description(parameter, &comment(&field.parent_file(), field.path())));
    }
    parameters
}

fn answer(row: &RpcRoute, output: &MessageDescriptor, schemas: &mut Schemas) -> Value {
    match row.form {
        ResponseForm::Events | ResponseForm::Tools => json!({
            "description": "Events as they come; the data of each is JSON.",
            "content": {"text/event-stream": {}},
        }),
        ResponseForm::Document => {
            json!({"description": "The bytes of the document.", "content": {"*/*": {}}})
        }
        ResponseForm::Message | ResponseForm::Tagged | ResponseForm::Free | ResponseForm::Upload => json!({
            "description": "What came of it.",
            "content": {"application/json": {"schema": schemas.reference(output)}},
        }),
    }
}
