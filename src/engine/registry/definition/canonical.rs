//! The canonical form of a definition, over which its digest is computed: RFC 8785 over its ProtoJSON.
//!
//! Written directly from the message, member by member in canonical order. The tests compare it with the output of
//! prost-reflect and a canonicaliser, which is many times as expensive.

use prost_types::{Struct, Value, value::Kind};

use toolwire_contract::{
    json::{write_list, write_plain},
    proto::v1,
};

/// The canonical text, without `digest`, `status`, `domain` and `sample`. The schemas are taken from the arguments, not
/// from the definition.
pub(super) fn canonical(definition: &v1::ToolDefinition, input: &Schema, output: &Schema) -> Vec<u8> {
    let mut text = Vec::with_capacity(16 * 1024);
    write_definition(definition, input, output, &mut text);
    text
}

/// The canonical text of a schema, in both forms that a definition contains.
#[derive(Debug)]
pub(super) struct Schema {
    structure: Vec<u8>,
    text: Vec<u8>,
}

impl Schema {
    pub(super) fn new(structure: &Struct, text: &str) -> Self {
        let (mut of_structure, mut of_text) = (Vec::new(), Vec::new());
        write_struct(structure, &mut of_structure);
        write_plain(text, &mut of_text);
        Self { structure: of_structure, text: of_text }
    }
}

fn write_definition(definition: &v1::ToolDefinition, input: &Schema, output: &Schema, text: &mut Vec<u8>) {
    // Exhaustive, so that a new field does not compile until it is handled.
    let v1::ToolDefinition {
        name,
        title,
        description,
        r#type: kind,
        category,
        consequence_level,
        requires_confirmation,
        timeout,
        input_schema: _,
        output_schema: _,
        input_schema_json: _,
        output_schema_json: _,
        input_message,
        output_message,
        typed_method,
        tags,
        version,
        depends_on,
        intents,
        utterances,
        examples,
        source,
        cache,
        untrusted,
        guidance,
        provider,
        idempotent,
        contained,
        agent,
        approve_unless,
        // Not what a call of the tool is: an approval holds over them.
        domain: _,
        sample: _,
        digest: _,
        status: _,
    } = definition;
    let mut object = Object::open(text);
    object.text("agent", agent);
    object.text("approveUnless", approve_unless);
    object.optional("cache", cache.as_ref(), write_cache);
    object.word("category", *category, definition.category().as_str_name());
    object.word("consequenceLevel", *consequence_level, definition.consequence_level().as_str_name());
    object.flag("contained", *contained);
    object.texts("dependsOn", depends_on);
    object.text("description", description);
    object.list("examples", examples, write_example);
    object.texts("guidance", guidance);
    object.flag("idempotent", *idempotent);
    object.text("inputMessage", input_message);
    object.member("inputSchema").extend_from_slice(&input.structure);
    object.member("inputSchemaJson").extend_from_slice(&input.text);
    object.texts("intents", intents);
    object.text("name", name);
    object.text("outputMessage", output_message);
    object.member("outputSchema").extend_from_slice(&output.structure);
    object.member("outputSchemaJson").extend_from_slice(&output.text);
    object.text("provider", provider);
    object.flag("requiresConfirmation", *requires_confirmation);
    object.optional("source", source.as_ref(), write_source);
    object.texts("tags", tags);
    object.optional("timeout", timeout.as_ref(), |it, text| write_plain(&it.to_string(), text));
    object.text("title", title);
    object.word("type", *kind, definition.r#type().as_str_name());
    object.text("typedMethod", typed_method);
    object.flag("untrusted", *untrusted);
    object.texts("utterances", utterances);
    object.text("version", version);
    object.close();
}

fn write_example(v1::ToolExample { description, arguments }: &v1::ToolExample, text: &mut Vec<u8>) {
    let mut object = Object::open(text);
    object.optional("arguments", arguments.as_ref(), write_struct);
    object.text("description", description);
    object.close();
}

fn write_source(v1::ToolSource { name, sections }: &v1::ToolSource, text: &mut Vec<u8>) {
    let mut object = Object::open(text);
    object.text("name", name);
    object.texts("sections", sections);
    object.close();
}

fn write_cache(v1::CachePolicy { ttl, tier, scope }: &v1::CachePolicy, text: &mut Vec<u8>) {
    let mut object = Object::open(text);
    object.text("scope", scope);
    object.text("tier", tier);
    object.optional("ttl", ttl.as_ref(), |it, text| write_plain(&it.to_string(), text));
    object.close();
}

fn write_struct(structure: &Struct, text: &mut Vec<u8>) {
    let mut members: Vec<_> = structure.fields.iter().collect();
    // The map is ordered by UTF-8, and RFC 8785 requires the order of UTF-16.
    members.sort_by(|(left, _), (right, _)| left.encode_utf16().cmp(right.encode_utf16()));
    let mut object = Object::open(text);
    for (key, value) in members {
        write_value(value, object.member(key));
    }
    object.close();
}

fn write_value(value: &Value, text: &mut Vec<u8>) {
    match &value.kind {
        None | Some(Kind::NullValue(_)) => write_plain(&(), text),
        Some(Kind::BoolValue(flag)) => write_plain(flag, text),
        Some(Kind::NumberValue(number)) => {
            serde_json_canonicalizer::to_writer(number, text).expect("JSON has no other numbers");
        }
        Some(Kind::StringValue(it)) => write_plain(it, text),
        Some(Kind::ListValue(list)) => write_list(&list.values, text, write_value),
        Some(Kind::StructValue(structure)) => write_struct(structure, text),
    }
}

/// A JSON object under construction. As in ProtoJSON, a field without presence is omitted if it has its default.
struct Object<'a> {
    text: &'a mut Vec<u8>,
    is_empty: bool,
}

impl<'a> Object<'a> {
    fn open(text: &'a mut Vec<u8>) -> Self {
        text.push(b'{');
        Self { text, is_empty: true }
    }

    /// Writes the key of the next member, and returns the buffer for its value.
    fn member(&mut self, key: &str) -> &mut Vec<u8> {
        if !self.is_empty {
            self.text.push(b',');
        }
        self.is_empty = false;
        write_plain(key, self.text);
        self.text.push(b':');
        self.text
    }

    fn text(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            write_plain(value, self.member(key));
        }
    }

    fn word(&mut self, key: &str, number: i32, name: &str) {
        if number != 0 {
            self.text(key, name);
        }
    }

    fn flag(&mut self, key: &str, value: bool) {
        if value {
            write_plain(&value, self.member(key));
        }
    }

    fn texts(&mut self, key: &str, values: &[String]) {
        self.list(key, values, write_plain);
    }

    fn list<T>(&mut self, key: &str, items: &[T], write: impl Fn(&T, &mut Vec<u8>)) {
        if !items.is_empty() {
            write_list(items, self.member(key), write);
        }
    }

    fn optional<T>(&mut self, key: &str, value: Option<&T>, write: impl Fn(&T, &mut Vec<u8>)) {
        if let Some(value) = value {
            write(value, self.member(key));
        }
    }

    fn close(self) {
        self.text.push(b'}');
    }
}

#[cfg(test)]
mod tests;
