//! Strings of results that are images, audio or other documents, by the keywords `contentEncoding` and
//! `contentMediaType` of the output schema. Each becomes a block of its kind beside the data.

use rmcp::model::{ContentBlock, ResourceContents};
use serde_json::Value;

/// Maximum depth of a schema that is searched.
const MAX_DEPTH: usize = 32;

/// The paths of the strings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Media(Vec<MediaString>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct MediaString {
    path: Vec<Step>,
    media_type: String,
    is_base64: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Member(String),
    Element,
}

impl Media {
    pub(super) fn of_schema(schema: &Value) -> Self {
        let mut found = Vec::new();
        collect(schema, &mut Vec::new(), &mut found);
        Self(found)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The blocks of the strings that the data of a call have.
    pub(super) fn blocks(&self, data: &Value, call_id: &str) -> Vec<ContentBlock> {
        let mut blocks = Vec::new();
        for media in &self.0 {
            media.visit(data, &media.path, &format!("toolwire:/calls/{call_id}"), &mut blocks);
        }
        blocks
    }
}

impl MediaString {
    fn visit(&self, value: &Value, path: &[Step], uri: &str, blocks: &mut Vec<ContentBlock>) {
        match (path, value) {
            ([], Value::String(text)) => blocks.push(self.block(text, uri)),
            ([Step::Member(name), rest @ ..], Value::Object(members)) => {
                if let Some(member) = members.get(name) {
                    self.visit(member, rest, &format!("{uri}/{name}"), blocks);
                }
            }
            ([Step::Element, rest @ ..], Value::Array(elements)) => {
                for (index, element) in elements.iter().enumerate() {
                    self.visit(element, rest, &format!("{uri}/{index}"), blocks);
                }
            }
            _ => {}
        }
    }

    fn block(&self, text: &str, uri: &str) -> ContentBlock {
        let kind = self.media_type.split('/').next().unwrap_or_default();
        let media_type = &*self.media_type;
        match (kind, self.is_base64) {
            ("image", true) => ContentBlock::image(text, media_type),
            ("audio", true) => ContentBlock::audio(text, media_type),
            (_, true) => ContentBlock::resource(ResourceContents::blob(text, uri).with_mime_type(media_type)),
            (_, false) => {
                ContentBlock::resource(ResourceContents::text(text, uri).with_mime_type(media_type))
            }
        }
    }
}

fn collect(schema: &Value, path: &mut Vec<Step>, found: &mut Vec<MediaString>) {
    if path.len() > MAX_DEPTH {
        return;
    }
    if let Some(media_type) = schema.get("contentMediaType").and_then(Value::as_str) {
        let is_base64 = schema.get("contentEncoding").is_some_and(|it| it == "base64");
        found.push(MediaString { path: path.clone(), media_type: media_type.to_owned(), is_base64 });
    }
    for (name, member) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        path.push(Step::Member(name.clone()));
        collect(member, path, found);
        path.pop();
    }
    if let Some(items) = schema.get("items") {
        path.push(Step::Element);
        collect(items, path, found);
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strings_with_a_media_type_become_blocks_of_its_kind() {
        let image = json!({"type": "string", "contentEncoding": "base64", "contentMediaType": "image/png"});
        let sound = json!({"type": "string", "contentEncoding": "base64", "contentMediaType": "audio/wav"});
        let note = json!({"type": "string", "contentMediaType": "text/markdown"});
        let schema = json!({"type": "object", "properties": {
            "pictures": {"type": "array", "items": image}, "sound": sound, "note": note, "name": {"type": "string"},
        }});
        let data = json!({"pictures": ["AAAA", "BBBB"], "note": "# Hi", "name": "x"});
        let blocks = Media::of_schema(&schema).blocks(&data, "c1");
        assert_eq!(
            serde_json::to_value(blocks).unwrap(),
            json!([
                {"type": "image", "data": "AAAA", "mimeType": "image/png"},
                {"type": "image", "data": "BBBB", "mimeType": "image/png"},
                {"type": "resource", "resource": {"uri": "toolwire:/calls/c1/note", "mimeType": "text/markdown", "text": "# Hi"}},
            ])
        );
    }
}
