//! Data as the answer to a call: structured content and the same text.

use std::time::Duration;

use rmcp::model::{CallToolResult, ContentBlock, MetaObject};
use serde::Serialize;
use serde_json::{Value, value::RawValue};

use super::{CallFacts, milliseconds};
use toolwire_contract::proto::v1;

/// The data of a result, whose text is written twice and read never.
#[derive(Debug)]
pub(in crate::server) struct Data {
    text: Box<RawValue>,
    meta: Meta,
}

/// The metadata of an answer with data.
#[derive(Debug, Serialize)]
struct Meta {
    #[serde(rename = "toolwire/call_id", skip_serializing_if = "String::is_empty")]
    call_id: String,
    #[serde(rename = "toolwire/request_id", skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(rename = "toolwire/provenance")]
    provenance: Provenance,
}

#[derive(Debug, Serialize)]
struct Provenance {
    source_ids: Vec<String>,
    as_of: String,
    from_cache: bool,
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    age_ms: Option<u64>,
}

/// `CallToolResult` with its structured content as text.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
    content: [TextBlock<'a>; 1],
    structured_content: &'a RawValue,
    is_error: bool,
    #[serde(rename = "_meta")]
    meta: &'a Meta,
}

#[derive(Serialize)]
struct TextBlock<'a> {
    r#type: &'static str,
    text: &'a str,
}

impl Data {
    /// # Errors
    /// If the text is not JSON.
    pub(super) fn new(
        text: String,
        provenance: v1::Provenance,
        facts: &CallFacts,
    ) -> Result<Self, serde_json::Error> {
        Ok(Self { text: RawValue::from_string(text)?, meta: Meta::new(provenance, facts) })
    }

    /// Whether it is an object. Other data is shown to clients of the older revisions in another way.
    pub(in crate::server) fn is_object(&self) -> bool {
        self.text.get().starts_with('{')
    }

    /// Serialises the same as the result that this is converted to.
    pub(in crate::server) fn as_result(&self, has_result_type: bool) -> impl Serialize + '_ {
        Written {
            result_type: has_result_type.then_some("complete"),
            content: [TextBlock { r#type: "text", text: self.text.get() }],
            structured_content: &self.text,
            is_error: false,
            meta: &self.meta,
        }
    }
}

impl From<Data> for CallToolResult {
    fn from(Data { text, meta }: Data) -> Self {
        let data = serde_json::from_str(text.get()).expect("a raw value is JSON");
        let text = String::from(Box::<str>::from(text));
        let mut result = Self::success(vec![ContentBlock::text(text)]);
        result.structured_content = Some(data);
        result.meta = Some(meta.into());
        result
    }
}

pub(super) fn success_meta(provenance: v1::Provenance, facts: &CallFacts) -> MetaObject {
    Meta::new(provenance, facts).into()
}

impl Meta {
    fn new(provenance: v1::Provenance, facts: &CallFacts) -> Self {
        let v1::Provenance { source_ids, as_of, from_cache, warnings, age, .. } = provenance;
        let age = age.and_then(|age| Duration::try_from(age).ok());
        Self {
            call_id: facts.call_id.clone(),
            request_id: facts.request_id.map(|id| id.to_string()),
            provenance: Provenance { source_ids, as_of, from_cache, warnings, age_ms: age.map(milliseconds) },
        }
    }
}

impl From<Meta> for MetaObject {
    fn from(meta: Meta) -> Self {
        match serde_json::to_value(meta) {
            Ok(Value::Object(members)) => Self(members),
            _ => unreachable!("its members are texts, lists and numbers"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn data_are_written_as_rmcp_writes_the_result() {
        let facts = CallFacts { call_id: "c\"1".to_owned(), request_id: None };
        let provenance = v1::Provenance {
            source_ids: vec!["tool:quotes:v1".to_owned()],
            as_of: "2026-01-15".to_owned(),
            age: Duration::from_millis(1_500).try_into().ok(),
            ..v1::Provenance::default()
        };
        let text = json!({"quotes": [{"symbol": "A\\\"B\u{1}é", "price": 1.5}], "n": null}).to_string();
        let data = || Data::new(text.clone(), provenance.clone(), &facts).expect("JSON");
        let mut result = CallToolResult::from(data());
        let written = |with| serde_json::to_string(&data().as_result(with)).expect("it is JSON");
        assert_eq!(written(true), serde_json::to_string(&result).expect("it is JSON"));
        result.result_type = None;
        assert_eq!(written(false), serde_json::to_string(&result).expect("it is JSON"));
    }

    #[test]
    fn a_text_that_is_not_json_is_no_data() {
        let data = |text: &str| Data::new(text.to_owned(), v1::Provenance::default(), &CallFacts::default());
        assert!(data("{\"a\":").is_err() && data("{} {}").is_err());
        assert!(!data("[1]").expect("JSON").is_object());
    }
}
