//! Answers that cannot be parsed, since they are too long or malformed, and those of whose data a number would be
//! rounded. rmcp drops the former, so that their calls would wait for their deadlines; here an error takes the place of
//! each.

use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult};

use toolwire_contract::json;
use toolwire_providers::bounds::MAX_DATA;

/// The codes of these errors. They are outside of what JSON-RPC and MCP reserve.
pub(crate) const TOO_LARGE: ErrorCode = ErrorCode(i32::MIN);
pub(crate) const MALFORMED: ErrorCode = ErrorCode(i32::MIN + 1);
/// A number of the data would be rounded.
pub(crate) const INEXACT: ErrorCode = ErrorCode(i32::MIN + 2);
/// It does not say whether the request was carried out.
pub(crate) const UNCLEAR: ErrorCode = ErrorCode(i32::MIN + 3);

pub(crate) fn is_own(code: ErrorCode) -> bool {
    (TOO_LARGE.0..=UNCLEAR.0).contains(&code.0)
}

/// Bytes of a member of a message that are kept: those of any identifier.
const MAX_MEMBER: usize = 256;

/// What stands at the top of a message, read byte by byte in bounded memory.
#[derive(Debug, Default)]
pub(crate) struct Outline {
    pub(crate) length: usize,
    /// `None` while there is white space only.
    is_object: Option<bool>,
    text: Text,
    levels: usize,
    /// The beginning of the member that is being read, without nested values.
    member: Vec<u8>,
    has_id: bool,
    /// `None` also where two members say different ones.
    id: Option<RequestId>,
    /// Whether it says that it is of JSON-RPC: what a program logs as JSON may have the other members too.
    pub(crate) is_rpc: bool,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Text {
    #[default]
    Outside,
    Inside,
    /// Behind a backslash.
    Escaped,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Unknown,
    Error,
    /// Whether there is an error too or not.
    Result,
    /// Or a notification: it has a method, whatever else it has.
    Request,
}

impl Outline {
    pub(crate) fn of(message: &[u8]) -> Self {
        let mut outline = Self::default();
        outline.read(message);
        outline
    }

    pub(crate) fn read(&mut self, bytes: &[u8]) {
        self.length += bytes.len();
        for &byte in bytes {
            if self.is_object.is_none() && !byte.is_ascii_whitespace() {
                self.is_object = Some(byte == b'{');
            }
            if self.is_object == Some(true) {
                self.take(byte);
            }
        }
    }

    /// Whether it is an object that has not ended.
    pub(crate) fn is_open(&self) -> bool {
        self.is_object == Some(true) && self.levels > 0 && self.text == Text::Outside
    }

    fn take(&mut self, byte: u8) {
        let is_top = self.levels == 1;
        match (self.text, byte) {
            (Text::Escaped, _) | (Text::Outside, b'"') => self.text = Text::Inside,
            (Text::Inside, b'\\') => self.text = Text::Escaped,
            (Text::Inside, b'"') => self.text = Text::Outside,
            (Text::Outside, b'{' | b'[') => {
                self.levels += 1;
                return;
            }
            (Text::Outside, b',') if is_top => return self.end_member(),
            (Text::Outside, b'}' | b']') => {
                self.levels = self.levels.saturating_sub(1);
                if is_top {
                    self.end_member();
                }
                return;
            }
            _ => {}
        }
        if is_top && self.member.len() < MAX_MEMBER {
            self.member.push(byte);
        }
    }

    fn end_member(&mut self) {
        let member = std::mem::take(&mut self.member);
        let Some(colon) = member.iter().position(|byte| *byte == b':') else { return };
        match member[..colon].trim_ascii() {
            b"\"id\"" => {
                let id = serde_json::from_slice(&member[colon + 1..]).ok();
                self.id = if self.has_id && id != self.id { None } else { id };
                self.has_id = true;
            }
            b"\"jsonrpc\"" => self.is_rpc = true,
            b"\"method\"" => self.kind = Kind::Request,
            b"\"error\"" if self.kind == Kind::Unknown => self.kind = Kind::Error,
            b"\"result\"" if self.kind != Kind::Request => self.kind = Kind::Result,
            _ => {}
        }
    }

    /// The error in place of an answer, for the request of this identifier or of its own, if it has one. `None` if this
    /// is no answer.
    pub(crate) fn error(
        mut self,
        error: ErrorData,
        request: Option<RequestId>,
    ) -> Option<ServerJsonRpcMessage> {
        // It may have been cut.
        self.end_member();
        let error = match self.kind {
            Kind::Result => error,
            Kind::Error => ErrorData { code: UNCLEAR, ..error },
            Kind::Unknown | Kind::Request => return None,
        };
        Some(ServerJsonRpcMessage::error(error, request.or(self.id)))
    }
}

pub(crate) fn too_large() -> ErrorData {
    ErrorData::new(TOO_LARGE, "it is too long", None)
}

pub(crate) fn malformed() -> ErrorData {
    ErrorData::new(MALFORMED, "it is no answer of JSON-RPC 2.0", None)
}

/// A message, unless a number of its data was rounded when its text was parsed.
pub(crate) fn if_exact(message: ServerJsonRpcMessage, text: &str) -> ServerJsonRpcMessage {
    let JsonRpcMessage::Response(response) = &message else { return message };
    let has_data = match &response.result {
        ServerResult::CallToolResult(result) => result.structured_content.is_some(),
        ServerResult::CustomResult(result) => result.0.get("structuredContent").is_some(),
        _ => false,
    };
    let inexact = || json::first_inexact(data(text)?).map(|it| it.to_string());
    match has_data.then(inexact).flatten() {
        Some(what) => {
            ServerJsonRpcMessage::error(ErrorData::new(INEXACT, what, None), Some(response.id.clone()))
        }
        None => message,
    }
}

/// The error in place of a result of more data than a call may have. Its values would take many times their text.
pub(crate) fn if_too_large(message: &[u8]) -> Option<ServerJsonRpcMessage> {
    if message.len() <= MAX_DATA {
        return None;
    }
    let is_too_large = json::min_length(data(&String::from_utf8_lossy(message))?) > MAX_DATA;
    is_too_large.then(|| Outline::of(message).error(too_large(), None)).flatten()
}

/// The data of a result in the text of its message.
fn data(message: &str) -> Option<&str> {
    let [result] = json::raw::pick(message, ["result"])?;
    let [data] = json::raw::pick(result?.get(), ["structuredContent"])?;
    Some(data?.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(message: &str) -> Option<RequestId> {
        match Outline::of(message.as_bytes()).error(malformed(), None)? {
            ServerJsonRpcMessage::Error(error) => error.id,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_answer_is_known_by_its_identifier_wherever_that_stands_and_however_it_is_cut() {
        let seven = Some(RequestId::Number(7));
        for answer in [
            r#"{"jsonrpc":"2.0","id":7,"result":{"id":8},"error":{"code":1}}"#,
            r#" { "result" : {"a":[{"id":8}],"b":"\"}"} , "id" : 7 }"#,
            r#"{"id":7,"result":{"text":"cut"#,
            r#"{"id":7,"error":nonsense"#,
        ] {
            assert_eq!(id(answer), seven, "{answer}");
        }
        assert_eq!(id(r#"{"id":"a,b","result":1,"error":2}"#), Some(RequestId::String("a,b".into())));
        assert_eq!(id(r#"{"id":7,"result":1,"id":7,"result":2}"#), seven);
        assert_eq!(id(r#"{"id":7,"id":8,"result":1}"#), None);
        for other in [
            "",
            "log {\"id\":7,\"result\":1}",
            r#"[{"id":7,"result":1}]"#,
            r#"{"id":7,"method":"ping","result":1}"#,
            r#"{"id":7}"#,
            r#"{"id":null,"result":1,"error":2}"#,
        ] {
            assert_eq!(id(other), None, "{other}");
        }
    }

    #[test]
    fn however_long_a_message_is_its_outline_is_short() {
        let long = format!("{{\"{0}\":\"{0}\",\"id\":7,\"result\":1}}", "x".repeat(10_000));
        let mut outline = Outline::of(&long.as_bytes()[..5_000]);
        assert!(outline.member.len() <= MAX_MEMBER);
        outline.read(&long.as_bytes()[5_000..]);
        assert_eq!((outline.length, outline.id.clone()), (long.len(), Some(RequestId::Number(7))));
    }
}
