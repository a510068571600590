//! The request for a confirmation: the call as a person sees it, and the definition that the decision is bound to.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::super::Call;
use toolwire_base::words::visible;
use toolwire_contract::{ConfirmationCause, proto::v1};
use toolwire_state::confirmations::ConfirmationRequest;

/// Maximum length of a summary, in characters. All arguments are shown below it in full.
const MAX_SUMMARY: usize = 400;

/// Maximum length of the unmet conditions in a summary, in characters.
const MAX_BROKEN: usize = 200;

/// The request for a confirmation of the call.
pub(in crate::pipeline) fn request(call: &Call, cause: ConfirmationCause) -> ConfirmationRequest {
    let (definition, context) = (&call.tool().definition, &call.context);
    let shown = call.tool().input.mask(&call.arguments).into_owned();
    let conditions = call.tool().conditions.as_ref();
    let broken = conditions.map(|it| it.explain_broken(&call.arguments)).unwrap_or_default();
    ConfirmationRequest {
        user_email: context.user.email.clone(),
        face: context.origin.face.to_owned(),
        client: context.client.as_ref().map(ToString::to_string).unwrap_or_default(),
        path: context.lineage.path(&definition.name),
        summary: summary(&definition.title, &definition.name, &broken, &shown),
        arguments: Some(shown),
        definition_digest: definition.digest,
        definition: definition.encoded(v1::ToolView::FullJson).clone(),
        category: v1::ToolCategory::from(definition.category),
        consequence_level: v1::ConsequenceLevel::from(definition.consequence_level),
        cause,
        task_id: context.task_id.clone(),
        session_id: context.session_id.clone(),
        outermost: context.lineage.outermost(),
    }
}

/// `Write (debug_write): value "x", duration "0s"`, on one line: control characters are escaped. Unmet conditions come
/// first, where the cut does not reach them: `Pay (pay_bill), since …: to "ACME"`.
fn summary(title: &str, name: &str, broken: &str, arguments: &Map<String, Value>) -> String {
    let mut text = if title.is_empty() { name.to_owned() } else { format!("{title} ({name})") };
    if !broken.is_empty() {
        let _ = write!(text, ", since {}", cut(broken, MAX_BROKEN));
    }
    let given = arguments.iter().filter(|(_, value)| !value.is_null());
    for (index, (key, value)) in given.enumerate() {
        text.push_str(if index == 0 { ": " } else { ", " });
        let _ = write!(text, "{key} {value}");
    }
    let text = visible(&text);
    cut(&text, MAX_SUMMARY)
}

fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(arguments: &Value) -> String {
        summary("Pay", "pay_bill", "", arguments.as_object().expect("an object"))
    }

    #[test]
    fn a_summary_says_what_is_called_with_what() {
        assert_eq!(
            of(&json!({"to": "ACME", "amount": 12.5, "note": null})),
            r#"Pay (pay_bill): to "ACME", amount 12.5"#
        );
        assert_eq!(summary("", "pay_bill", "", &Map::new()), "pay_bill");
        let arguments = Map::from_iter([("amount".to_owned(), 500.into())]);
        assert_eq!(
            summary("Pay", "pay_bill", "`amount` must be at most 100, but is 500", &arguments),
            "Pay (pay_bill), since `amount` must be at most 100, but is 500: amount 500"
        );
    }

    /// Text that turns around, hides or breaks the line would show another call than the one that is decided on.
    #[test]
    fn what_disguises_is_written_out() {
        assert_eq!(
            of(&json!({"to": "A\u{202e}EMC\u{200b}\n\u{1b}[2K"})),
            r#"Pay (pay_bill): to "A\u{202e}EMC\u{200b}\n\u001b[2K""#
        );
        let long = of(&json!({"to": "x".repeat(1_000)}));
        assert_eq!(long.chars().count(), MAX_SUMMARY + 1);
    }
}
