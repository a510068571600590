//! A confirmation as a person reads it before deciding: who calls what, why, and every argument whole.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::words;
use toolwire_base::words::visible;
use toolwire_contract::proto::v1;

/// In the place of arguments that could not be fetched.
const CUT: &str = "  arguments of more than 16 KiB, which are not shown here\n";

/// The card of a confirmation: a heading, then a line for each thing to know.
pub(super) fn card(it: &v1::Confirmation) -> String {
    let mut lines = Vec::new();
    let mut add = |name: &str, value: String| {
        if !value.is_empty() {
            lines.push((name.to_owned(), value));
        }
    };
    let who = [it.user_id.as_str(), it.user_email.as_str()].join(" ");
    add("caller", visible(who.trim()));
    add("client", visible([it.face.as_str(), it.client.as_str()].join(" ").trim()));
    add("tool", it.path.join(" -> "));
    add("consequence", words::consequence(it.consequence_level()));
    add("asked by", words::cause(it.cause()).to_owned());
    add("task", visible(&it.task_id));
    let expires = it.expires_at.as_ref().map(ToString::to_string).unwrap_or_default();
    match it.state() {
        v1::ConfirmationState::Pending => {
            add("decide until", expires);
            add("decide at", it.url.clone());
        }
        v1::ConfirmationState::Approved => add("use until", expires),
        _ => {}
    }
    if !it.decided_by.is_empty() {
        let at = it.decided_at.as_ref().map(|at| format!(" at {at}")).unwrap_or_default();
        add("decided by", format!("{}{at} via {}", visible(&it.decided_by), visible(&it.decided_via)));
    }
    add("on behalf of", visible(&it.on_behalf_of));
    add("reason", visible(&it.reason));
    let state = words::confirmation_state(it.state());
    format!(
        "{} {state}: {}\n{}{}{}",
        it.confirmation_id,
        visible(&it.summary),
        align(&lines),
        definition_changes(it),
        if it.arguments_cut { CUT.to_owned() } else { arguments(&it.arguments_json) }
    )
}

/// What changed in the tool's definition since the call was made: a pointer, and below it what was and what is.
fn definition_changes(it: &v1::Confirmation) -> String {
    if it.definition_changes.is_empty() && it.definition_changes_left_out == 0 {
        return String::new();
    }
    let mut text = "  the tool has changed since this call was made, which must be made again\n".to_owned();
    for change in &it.definition_changes {
        let part =
            if change.pointer.is_empty() { "the tool, which there is no more" } else { &change.pointer };
        let excerpt = if change.excerpt { " (excerpt)" } else { "" };
        let _ = writeln!(text, "    {}{excerpt}", visible(part));
        for (sign, value) in [("-", &change.before_json), ("+", &change.after_json)] {
            if !value.is_empty() {
                let _ = writeln!(text, "      {sign} {}", visible(value));
            }
        }
    }
    match it.definition_changes_left_out {
        0 => text,
        more => text + &format!("    and {more} more changes, which are not shown\n"),
    }
}

/// Every argument, one a line, none of them shortened.
fn arguments(text: &str) -> String {
    let arguments: Map<String, Value> = serde_json::from_str(text).unwrap_or_default();
    if arguments.is_empty() {
        return "  no arguments\n".to_owned();
    }
    let lines: Vec<_> =
        arguments.into_iter().map(|(key, value)| (visible(&key), visible(&value.to_string()))).collect();
    let aligned = align(&lines);
    let indented: Vec<_> = aligned.lines().map(|line| format!("  {line}\n")).collect();
    format!("  arguments\n{}", indented.concat())
}

fn align(lines: &[(String, String)]) -> String {
    let width = lines.iter().map(|(name, _)| name.chars().count()).max().unwrap_or_default();
    let lines: Vec<_> = lines.iter().map(|(name, value)| format!("  {name:<width$}  {value}\n")).collect();
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_shows_every_argument_whole_and_nothing_disguised() {
        let long = "x".repeat(2_000);
        let it = v1::Confirmation {
            confirmation_id: "conf_1".to_owned(),
            state: v1::ConfirmationState::Pending.into(),
            path: vec!["desk".to_owned(), "pay_bill".to_owned()],
            summary: "Pay (pay_bill): to \"ACME\"".to_owned(),
            arguments_json: format!(
                "{{\"to\":\"AC\u{202e}ME\",\"amount\":9007199254740993,\"note\":\"{long}\"}}"
            ),
            consequence_level: v1::ConsequenceLevel::High.into(),
            cause: v1::ConfirmationCause::Manifest.into(),
            user_id: "riley".to_owned(),
            expires_at: Some(prost_types::Timestamp { seconds: 1_768_557_600, nanos: 0 }),
            ..Default::default()
        };
        let expected = format!(
            "\
conf_1 pending: Pay (pay_bill): to \"ACME\"
  caller        riley
  tool          desk -> pay_bill
  consequence   high
  asked by      the tool's manifest
  decide until  2026-01-16T10:00:00Z
  arguments
    to      \"AC\\u{{202e}}ME\"
    amount  9007199254740993
    note    \"{long}\"
"
        );
        assert_eq!(card(&it), expected);
    }

    #[test]
    fn a_card_shows_what_changed_in_the_definition() {
        let change = |pointer: &str, before: &str, after: &str, excerpt| v1::DefinitionChange {
            pointer: pointer.to_owned(),
            before_json: before.to_owned(),
            after_json: after.to_owned(),
            excerpt,
        };
        let it = v1::Confirmation {
            definition_changes: vec![
                change("/description", "\"Pays.\"", "\"Pa\u{202e}ys.\"", true),
                change("/input_schema/properties/to", "", "{}", false),
                change("", "{}", "", false),
            ],
            definition_changes_left_out: 3,
            ..Default::default()
        };
        let expected = "  the tool has changed since this call was made, which must be made again
    /description (excerpt)
      - \"Pays.\"
      + \"Pa\\u{202e}ys.\"
    /input_schema/properties/to
      + {}
    the tool, which there is no more
      - {}
    and 3 more changes, which are not shown
";
        assert!(card(&it).contains(expected), "{}", card(&it));
        let it = v1::Confirmation { definition_changes_left_out: 1, ..Default::default() };
        assert!(card(&it).contains("and 1 more changes, which are not shown"), "{}", card(&it));
    }

    #[test]
    fn a_card_shows_who_decided_when_and_where() {
        let it = v1::Confirmation {
            state: v1::ConfirmationState::Approved.into(),
            decided_by: "riley".to_owned(),
            decided_at: Some(prost_types::Timestamp { seconds: 1_768_557_600, nanos: 0 }),
            decided_via: "mcp form".to_owned(),
            ..Default::default()
        };
        let card = card(&it);
        assert!(card.contains("  decided by   riley at 2026-01-16T10:00:00Z via mcp form\n"), "{card}");
    }
}
