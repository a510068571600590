//! Messages that say which call waits for approval, and how a person approves it.
//!
//! `flags` are those by which a command finds the same server, each after a space.

use toolwire_contract::proto::v1::{ConfirmationRequired, ConsequenceLevel};

/// What waits, with its exact arguments, and how it is approved.
pub(super) fn how_to_approve(required: &ConfirmationRequired, flags: &str) -> String {
    let ConfirmationRequired { summary, arguments_json, .. } = required;
    let way = way(required, flags);
    format!("Waiting for approval: {summary}. The exact arguments: {arguments_json}. {way}")
}

/// The same for a line of progress.
pub(super) fn progress(required: &ConfirmationRequired, flags: &str) -> String {
    format!("Waiting for approval: {}. {}", required.summary, way(required, flags))
}

/// What a person does to approve: on the page of the server's console, if it has one, or by a command.
fn way(required: &ConfirmationRequired, flags: &str) -> String {
    let page = if required.url.is_empty() { String::new() } else { format!("opens {} or ", required.url) };
    format!("A person with the right to approve {page}runs `{}`", approve_command(required, flags))
}

/// The command that approves a call. For consequence `high` it repeats the tool's name.
fn approve_command(required: &ConfirmationRequired, flags: &str) -> String {
    let name = match required.consequence_level() {
        ConsequenceLevel::High => format!(" --tool {}", required.tool),
        _ => String::new(),
    };
    format!("toolwire approve {}{name}{flags}", required.confirmation_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_a_console_is_named_beside_the_command() {
        let mut required = ConfirmationRequired {
            confirmation_id: "conf_1".to_owned(),
            summary: "Pay 250".to_owned(),
            arguments_json: r#"{"amount":250}"#.to_owned(),
            tool: "pay".to_owned(),
            ..ConfirmationRequired::default()
        };
        let waits = "Waiting for approval: Pay 250. ";
        let command = "toolwire approve conf_1 --server http://h:1";
        let flags = " --server http://h:1";
        let words = progress(&required, flags);
        assert_eq!(words, format!("{waits}A person with the right to approve runs `{command}`"));
        required.url = "https://h/c/conf_1".to_owned();
        required.set_consequence_level(ConsequenceLevel::High);
        let command = "toolwire approve conf_1 --tool pay --server http://h:1";
        let words = how_to_approve(&required, flags);
        let way = format!("A person with the right to approve opens https://h/c/conf_1 or runs `{command}`");
        assert_eq!(words, format!(r#"{waits}The exact arguments: {{"amount":250}}. {way}"#));
    }
}
