//! How a client learns what a person decided, by what it supports.

use rmcp::{
    RoleServer,
    model::{ClientCapabilities, ProtocolVersion},
    service::RequestContext,
};

use super::settings::Transport;

/// What a client supports. One that supports neither calls again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ConfirmationMode {
    /// The call becomes a task, which goes on by itself.
    pub(super) takes_tasks: bool,
    /// How the client is asked to show a form.
    pub(super) form: Option<FormKind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormKind {
    /// By the answer to the call, which the client then makes again with a state.
    Answer,
    /// By a request while the call is under way, as in the older revisions.
    Request,
}

impl ConfirmationMode {
    pub(super) fn of(context: &RequestContext<RoleServer>, transport: Transport) -> Self {
        Self::by(context.client_capabilities(), context.protocol_version(), transport)
    }

    pub(super) fn by(
        capabilities: Option<ClientCapabilities>,
        version: Option<ProtocolVersion>,
        transport: Transport,
    ) -> Self {
        let capabilities = capabilities.unwrap_or_default();
        let takes_tasks = capabilities.supports_tasks();
        // A capability that names no mode means forms.
        let shows_forms = capabilities.elicitation.is_some_and(|it| it.form.is_some() || it.url.is_none());
        let form = match (version.is_some_and(|it| it >= ProtocolVersion::V_2026_07_28), transport) {
            _ if !shows_forms => None,
            (true, _) => Some(FormKind::Answer),
            (false, Transport::Stdio) => Some(FormKind::Request),
            // Without a session, a request of the server's reaches no client.
            (false, Transport::Http) => None,
        };
        Self { takes_tasks, form }
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ElicitationCapability, UrlElicitationCapability};

    use super::*;

    #[test]
    fn what_a_client_supports_is_read_from_its_capabilities_its_revision_and_its_transport() {
        let newest = || Some(ProtocolVersion::V_2026_07_28);
        let old = || Some(ProtocolVersion::V_2025_11_25);
        let both = ClientCapabilities::builder().enable_tasks().enable_elicitation().build();
        let forms = ClientCapabilities::builder().enable_elicitation().build();
        let mut urls = forms.clone();
        let mut only_urls = ElicitationCapability::default();
        only_urls.url = Some(UrlElicitationCapability::default());
        urls.elicitation = Some(only_urls);
        for transport in [Transport::Http, Transport::Stdio] {
            let mode = |capabilities: &ClientCapabilities, version| {
                let ConfirmationMode { takes_tasks, form } =
                    ConfirmationMode::by(Some(capabilities.clone()), version, transport);
                (takes_tasks, form)
            };
            assert_eq!(mode(&both, newest()), (true, Some(FormKind::Answer)));
            assert_eq!(mode(&forms, newest()), (false, Some(FormKind::Answer)));
            assert_eq!(mode(&urls, newest()), (false, None));
            let held = (transport == Transport::Stdio).then_some(FormKind::Request);
            assert_eq!(mode(&forms, old()), (false, held));
            assert_eq!(mode(&forms, None), (false, held));
            assert_eq!(ConfirmationMode::by(None, newest(), transport), ConfirmationMode::default());
        }
    }
}
