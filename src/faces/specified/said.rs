//! What a conversation's messages say: the last text of the user is the question, and what stands before it is what
//! was said before. Both the routes of specification 003 and AG-UI's send conversations so.

use serde_json::Value;

use super::body::Object;
use crate::{agent::plan::Exchange, contract::Refusal, service::request::refuse};

/// The most messages.
const MOST_MESSAGES: usize = 50;

/// The most text of all messages together, in bytes.
const MOST_TEXT: usize = 256 * 1024;

/// What messages say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// The last text of the user; empty if there is none.
    pub question: String,
    /// What was said and answered before.
    pub before: Vec<Exchange>,
}

/// Reads messages: `{role, content}`, where a content is a text or a list of parts of text.
pub fn read(field: &str, messages: &[Value]) -> Result<Said, Refusal> {
    if messages.len() > MOST_MESSAGES {
        return Err(refuse(field, "max_items", &format!("must have at most {MOST_MESSAGES} elements")));
    }
    let mut said = Vec::new();
    let mut room = MOST_TEXT;
    for (at, message) in messages.iter().enumerate() {
        let mut message = Object::of(format!("{field}[{at}]"), message.clone())?;
        let role = message.text("role")?;
        // What systems, tools and activities say is ours to say; it is not taken from a caller.
        if role != "user" && role != "assistant" {
            continue;
        }
        let path = message.path("content");
        let text = content(&path, message.take("content"), role == "user")?;
        room = room.checked_sub(text.len()).ok_or_else(|| {
            let what = format!("must have at most {MOST_TEXT} bytes of text in all");
            refuse(field, "max_length", &what)
        })?;
        said.push((role == "user", text));
    }
    Ok(paired(&said))
}

fn content(path: &str, content: Option<Value>, is_users: bool) -> Result<String, Refusal> {
    match content {
        None => Ok(String::new()),
        Some(Value::String(text)) => Ok(text),
        Some(Value::Array(parts)) => {
            let text = |part: &Value| match (part["type"].as_str(), part["text"].as_str()) {
                (Some("text"), Some(text)) => Ok(text.to_owned()),
                _ if is_users => Err(refuse(path, "enum", "must be text: no other part is understood")),
                _ => Ok(String::new()),
            };
            Ok(parts.iter().map(text).collect::<Result<Vec<_>, _>>()?.join("\n"))
        }
        Some(_) => Err(refuse(path, "type", "must be a string or a list of parts")),
    }
}

/// Each text of the user's with what was answered to it, and the last one alone.
fn paired(said: &[(bool, String)]) -> Said {
    let Some(last) = said.iter().rposition(|(is_users, text)| *is_users && !text.trim().is_empty()) else {
        return Said::default();
    };
    let mut before: Vec<Exchange> = Vec::new();
    for (is_users, text) in &said[..last] {
        match before.last_mut() {
            _ if *is_users => before.push(Exchange { said: text.clone(), ..Exchange::default() }),
            Some(exchange) if exchange.answered.is_empty() => exchange.answered.clone_from(text),
            Some(exchange) if !text.is_empty() => {
                exchange.answered = format!("{}\n{text}", exchange.answered);
            }
            _ => {}
        }
    }
    // What was not answered was not kept either.
    before.retain(|exchange| !exchange.answered.is_empty());
    Said { question: said[last].1.clone(), before }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_text_of_the_user_is_the_question() {
        let messages = [
            json!({"role": "system", "content": "You are a pirate."}),
            json!({"role": "user", "content": "What is Apple worth?"}),
            json!({"role": "assistant", "content": "", "toolCalls": []}),
            json!({"role": "tool", "content": "{}", "toolCallId": "c"}),
            json!({"role": "assistant", "content": "193.12."}),
            json!({"role": "user", "content": [{"type": "text", "text": "And"}, {"type": "text", "text": "VOO?"}]}),
        ];
        let said = read("messages", &messages).unwrap();
        assert_eq!(said.question, "And\nVOO?");
        assert_eq!(said.before.len(), 1);
        assert_eq!(
            (said.before[0].said.as_str(), said.before[0].answered.as_str()),
            ("What is Apple worth?", "193.12.")
        );
    }

    #[test]
    fn what_is_not_text_or_too_much_is_refused() {
        let image = json!({"role": "user", "content": [{"type": "image", "source": {}}]});
        let long = json!({"role": "user", "content": "x".repeat(MOST_TEXT + 1)});
        for wrong in [vec![image], vec![long], vec![json!(1)], vec![json!({}); MOST_MESSAGES + 1]] {
            assert!(read("messages", &wrong).is_err());
        }
        assert_eq!(read("messages", &[]).unwrap(), Said::default());
    }
}
