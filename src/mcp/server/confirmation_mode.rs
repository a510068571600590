//! How a client learns what a person decided: the first of three ways that it supports.

use rmcp::{
    RoleServer,
    model::{ClientCapabilities, ProtocolVersion},
    service::RequestContext,
};

use toolwire_contract::proto::v1::{ConfirmationRequired, ConsequenceLevel};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConfirmationMode {
    /// The call becomes a task, which goes on by itself.
    Task,
    /// The client shows a form and calls again with a state.
    Form,
    /// The call waits for a while; then the agent is to call again.
    Wait,
}

impl ConfirmationMode {
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        Self::by(context.client_capabilities(), context.protocol_version())
    }

    pub(super) fn by(capabilities: Option<ClientCapabilities>, version: Option<ProtocolVersion>) -> Self {
        let capabilities = capabilities.unwrap_or_default();
        if capabilities.supports_tasks() {
            return Self::Task;
        }
        // A client of an older revision knows no answer that asks for input.
        let knows_rounds = version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        // A capability that names no mode means forms.
        let shows_forms = capabilities.elicitation.is_some_and(|it| it.form.is_some() || it.url.is_none());
        if knows_rounds && shows_forms { Self::Form } else { Self::Wait }
    }
}

/// Words for the agent and its person: what to approve, and how. `flags` are those by which a command finds the same
/// server.
pub(super) fn how_to_approve(required: &ConfirmationRequired, flags: &str) -> String {
    let ConfirmationRequired { summary, arguments_json, .. } = required;
    format!(
        "A person must approve this first: {summary}. The exact arguments: {arguments_json}. A person with the right to \
         approve runs `{}`",
        approve_command(required, flags)
    )
}

/// The command that approves a call. Where much is at stake, it repeats the tool's name.
pub(super) fn approve_command(required: &ConfirmationRequired, flags: &str) -> String {
    let name = match required.consequence_level() {
        ConsequenceLevel::High => format!(" --tool {}", required.tool),
        _ => String::new(),
    };
    format!("toolwire approve {}{name}{flags}", required.confirmation_id)
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ElicitationCapability, UrlElicitationCapability};

    use super::*;

    #[test]
    fn the_first_mode_that_a_client_supports_is_used() {
        let newest = Some(ProtocolVersion::V_2026_07_28);
        let tasks = ClientCapabilities::builder().enable_tasks().enable_elicitation().build();
        let forms = ClientCapabilities::builder().enable_elicitation().build();
        let mut urls = forms.clone();
        let mut only_urls = ElicitationCapability::default();
        only_urls.url = Some(UrlElicitationCapability::default());
        urls.elicitation = Some(only_urls);
        assert_eq!(ConfirmationMode::by(Some(tasks), newest.clone()), ConfirmationMode::Task);
        assert_eq!(ConfirmationMode::by(Some(forms.clone()), newest.clone()), ConfirmationMode::Form);
        assert_eq!(
            ConfirmationMode::by(Some(forms), Some(ProtocolVersion::V_2025_11_25)),
            ConfirmationMode::Wait
        );
        assert_eq!(ConfirmationMode::by(Some(urls), newest.clone()), ConfirmationMode::Wait);
        assert_eq!(ConfirmationMode::by(None, newest), ConfirmationMode::Wait);
    }
}
