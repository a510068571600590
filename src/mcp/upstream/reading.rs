//! A message of a server, read as far as it can be: of a list and of the content of a result, an entry that cannot be
//! read costs itself only.
//!
//! Not here: what is no message at all, and the errors that take the place of answers that cannot be read
//! (`unreadable`).

use std::borrow::Cow;

use rmcp::model::{
    CustomResult, ErrorData, ListToolsResult, RequestId, ServerJsonRpcMessage, ServerResult, Tool,
};
use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use super::{
    bounds::MAX_LEFT_OUT,
    unreadable::{Outline, if_exact, if_too_large, malformed},
};
use toolwire_base::words::bytes_without_bom;
use toolwire_contract::json::{
    self,
    raw::{Members, value},
};
use toolwire_providers::{bounds::MAX_ID, cut};

/// The member of a page's `_meta` by which [`message`] says what it left out. A server that sends it says only that
/// something is missing.
const LEFT_OUT: &str = "toolwire/left_out";

/// The message, and whether it is all of it. `None` if it is none, or one that cannot be read even in part. An error
/// takes the place of a result with too much data, or of whose data a number would be rounded, and of an answer in
/// which a key stands twice.
pub(crate) fn message(bytes: &[u8]) -> Option<(ServerJsonRpcMessage, bool)> {
    let bytes = bytes_without_bom(bytes);
    if let Some(error) = if_too_large(bytes) {
        return Some((error, false));
    }
    let text = String::from_utf8_lossy(bytes);
    let (message, is_whole) = match json::first_duplicate(&text) {
        None => read(bytes)?,
        Some(what) => {
            let error = ErrorData { message: what.into(), ..malformed() };
            (in_part(bytes).or_else(|| Outline::of(bytes).error(error, None))?, false)
        }
    };
    let is_error = |it: &ServerJsonRpcMessage| matches!(it, ServerJsonRpcMessage::Error(_));
    let was_error = is_error(&message);
    let message = if_exact(message, &text);
    let is_replaced = is_error(&message) != was_error;
    Some((message, is_whole && !is_replaced))
}

/// The same, or an error in place of an answer that cannot be read: for this request, or that of the answer's own
/// identifier, if it has one.
pub(crate) fn message_or_error(
    bytes: &[u8],
    request: Option<&RequestId>,
) -> Option<(ServerJsonRpcMessage, bool)> {
    let in_its_place = || Some((Outline::of(bytes).error(malformed(), request.cloned())?, false));
    message(bytes).or_else(in_its_place)
}

fn read(bytes: &[u8]) -> Option<(ServerJsonRpcMessage, bool)> {
    let part = match serde_json::from_slice::<ServerJsonRpcMessage>(bytes) {
        // Some entry may have made it a result of no known kind.
        Ok(ServerJsonRpcMessage::Response(it)) if has_unread_tools(&it.result) => in_part(bytes),
        Ok(message) => return Some((message, true)),
        Err(_) => {
            let mended = mend(bytes);
            // It may be whole again.
            let whole = serde_json::from_str(&mended).ok();
            whole.or_else(|| in_part(mended.as_bytes()))
        }
    };
    part.map(|message| (message, false))
}

fn has_unread_tools(result: &ServerResult) -> bool {
    matches!(result, ServerResult::CustomResult(it) if it.0["tools"].is_array())
}

/// The entries of a list that were left out, in words.
pub(crate) fn take_left_out(page: &mut ListToolsResult) -> Vec<String> {
    let left_out = page.meta.as_mut().and_then(|it| it.remove(LEFT_OUT));
    left_out.and_then(|it| serde_json::from_value(it).ok()).unwrap_or_default()
}

fn in_part(bytes: &[u8]) -> Option<ServerJsonRpcMessage> {
    let envelope: Members<'_> = serde_json::from_slice(bytes).ok()?;
    if member(&envelope, "error").is_some_and(|it| it.get() != "null")
        || member(&envelope, "method").is_some()
    {
        return None;
    }
    let id: RequestId = value(member(&envelope, "id")?)?;
    let result: Members<'_> = value(member(&envelope, "result")?)?;
    let result = if let Some(tools) = member(&result, "tools").and_then(entries) {
        page(&tools, &result)
    } else {
        let content = entries(member(&result, "content")?)?;
        let blocks = content.iter().map(|it| unique(it).unwrap_or_else(|| json!({})));
        // Nothing else of a result may be left out: it is checked, or acted upon.
        let others = result.0.iter().filter(|(name, _)| name != "content");
        let mut read = others
            .map(|(name, raw)| Some((name.clone(), unique(raw)?)))
            .collect::<Option<Map<String, Value>>>()?;
        read.insert("content".to_owned(), blocks.collect());
        ServerResult::CustomResult(CustomResult(read.into()))
    };
    Some(ServerJsonRpcMessage::response(result, id))
}

fn member<'a>(members: &Members<'a>, name: &str) -> Option<&'a RawValue> {
    members.0.iter().find(|(known, _)| known == name).map(|(_, raw)| *raw)
}

/// The value, if it can be read and no key stands twice in it.
fn unique(raw: &RawValue) -> Option<Value> {
    if json::first_duplicate(raw.get()).is_some() { None } else { value(raw) }
}

fn entries(raw: &RawValue) -> Option<Vec<&RawValue>> {
    value(raw)
}

fn page(entries: &[&RawValue], others: &Members<'_>) -> ServerResult {
    let (mut tools, mut left_out) = (Vec::new(), Vec::new());
    for entry in entries {
        match tool(entry) {
            Ok(tool) => tools.push(tool),
            Err(what) if left_out.len() < MAX_LEFT_OUT => left_out.push(what),
            Err(_) => {}
        }
    }
    let mut page = ListToolsResult { tools, ..ListToolsResult::default() };
    // One of another type is the end of the list.
    page.next_cursor = member(others, "nextCursor").and_then(value);
    let mut meta = Map::new();
    meta.insert(LEFT_OUT.to_owned(), json!(left_out));
    page.meta = serde_json::from_value(meta.into()).ok();
    ServerResult::ListToolsResult(page)
}

/// An entry that was left out, in words.
pub(crate) fn left_out(name: &str, why: &str) -> String {
    format!("{:?}: {}", cut(name, MAX_ID), cut(why, 4 * MAX_ID))
}

fn tool(entry: &RawValue) -> Result<Tool, String> {
    #[derive(Deserialize)]
    struct Named<'a> {
        #[serde(borrow)]
        name: Cow<'a, str>,
    }
    let text = entry.get();
    let read = match json::first_duplicate(text) {
        Some(what) => Err(what),
        None => serde_json::from_str::<Tool>(text).map_err(|error| error.to_string()),
    };
    read.map_err(|why| {
        let name = value::<Named<'_>>(entry).map(|it| it.name.into_owned()).unwrap_or_default();
        left_out(&name, &why)
    })
}

/// The same text as far as it can be text: of what is no UTF-8, and of half of a pair of surrogates, that alone is
/// replaced.
fn mend(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut mended = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let length = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                mended.push('\u{fffd}');
                rest = &escape[6..];
                continue;
            }
            (Some(_), _) => 6,
            (None, _) => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        mended.push_str(&escape[..length]);
        rest = &escape[length..];
    }
    mended.push_str(rest);
    mended
}

/// The code unit of an escape at the beginning of a text.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, schema: &str) -> String {
        format!(r#"{{"name":"{name}","inputSchema":{schema}}}"#)
    }

    fn answer(result: &str) -> Option<ServerResult> {
        let text = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#);
        match message(text.as_bytes())? {
            (ServerJsonRpcMessage::Response(it), _) => Some(it.result),
            other => panic!("{other:?}"),
        }
    }

    fn list(result: &str) -> (Vec<String>, Option<String>, Vec<String>) {
        let Some(ServerResult::ListToolsResult(mut page)) = answer(result) else { panic!("{result}") };
        let left_out = take_left_out(&mut page);
        (page.tools.iter().map(|it| it.name.to_string()).collect(), page.next_cursor, left_out)
    }

    #[test]
    fn an_odd_tool_costs_itself_and_is_named() {
        let deep = format!("{}{}", r#"{"items":"#.repeat(200), "{}".to_owned() + &"}".repeat(200));
        let good = [tool("a", "{}"), tool("b", r#"{"type":"object"}"#)];
        for odd in [
            &*tool("odd", &deep),
            r#"{"name":"odd","description":7,"inputSchema":{}}"#,
            r#"{"name":"odd"}"#,
            r#"{"name":"odd","inputSchema":[]}"#,
            r#"{"name":"odd","inputSchema":{"maximum":1e999}}"#,
            "null",
            "7",
            "[]",
            r#"{"inputSchema":{}}"#,
        ] {
            for page in [
                format!(r#"{{"tools":[{},{odd},{}],"nextCursor":"c"}}"#, good[0], good[1]),
                format!(r#"{{"nextCursor":"c","tools":[{odd},{},{}]}}"#, good[0], good[1]),
            ] {
                let (tools, cursor, left_out) = list(&page);
                assert_eq!(
                    (tools, cursor.as_deref()),
                    (vec!["a".to_owned(), "b".to_owned()], Some("c")),
                    "{odd}"
                );
                assert_eq!(left_out.len(), 1, "{left_out:?}");
                assert!(!odd.contains("odd") || left_out[0].starts_with("\"odd\""), "{left_out:?}");
            }
        }
    }

    #[test]
    fn a_cursor_that_is_no_text_is_the_end() {
        for cursor in ["7", "null", "{}", "[1]", "true"] {
            let (tools, next, _) =
                list(&format!(r#"{{"tools":[{}],"nextCursor":{cursor}}}"#, tool("a", "{}")));
            assert_eq!((tools.len(), next), (1, None), "{cursor}");
        }
    }

    #[test]
    fn an_odd_block_costs_itself() {
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        let result =
            answer(&format!(r#"{{"content":[{{"type":"text","text":"a"}},{{"x":{deep}}}],"isError":true}}"#));
        let Some(ServerResult::CustomResult(read)) = result else { panic!("{result:?}") };
        assert_eq!(read.0, json!({"content": [{"type": "text", "text": "a"}, {}], "isError": true}));
        assert!(answer(&format!(r#"{{"content":[],"structuredContent":{{"x":{deep}}}}}"#)).is_none());
    }

    #[test]
    fn half_a_pair_of_surrogates_is_replaced_and_nothing_else() {
        for (text, mended) in [
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83d""#, "\"\u{fffd}\""),
            (r#""a\ude00b\n\\ud800""#, "\"a\u{fffd}b\\n\\\\ud800\""),
            (r#""\ud83d\ud83d\ude00""#, "\"\u{fffd}\\ud83d\\ude00\""),
            (r#""\ud83"#, r#""\ud83"#),
            ("\"é\\", "\"é\\"),
        ] {
            assert_eq!(mend(text.as_bytes()), mended, "{text}");
        }
        let result = answer(r#"{"content":[{"type":"text","text":"a\ud800"}]}"#);
        assert!(format!("{result:?}").contains("a\u{fffd}"), "{result:?}");
        assert_eq!(mend(b"\"\xff\""), "\"\u{fffd}\"");
    }

    #[test]
    fn what_is_no_answer_is_none() {
        for other in
            ["", "{}", "[]", "starting", r#"{"id":7,"result":{"a":1},"error":{}}"#, r#"{"id":7,"result":7}"#]
        {
            assert!(message(other.as_bytes()).is_none(), "{other}");
        }
    }
}
