//! An MCP server over HTTP: rmcp's own transport, on the client that it is given.

use rmcp::transport::{
    StreamableHttpClientTransport, streamable_http_client::StreamableHttpClientTransportConfig,
};
use secrecy::{ExposeSecret, SecretString};

use super::bounds::{CANCEL, MAX_ANSWER, MAX_CALLS};

pub(crate) type Transport = StreamableHttpClientTransport<reqwest::Client>;

pub(crate) fn transport(client: reqwest::Client, url: &str, token: Option<&SecretString>) -> Transport {
    let mut config = StreamableHttpClientTransportConfig::with_uri(url)
        // Lists and cancellations are not to wait for calls.
        .max_concurrent_requests(MAX_CALLS + 2)
        .control_request_timeout(CANCEL)
        .max_sse_event_size(MAX_ANSWER)
        .max_json_response_size(MAX_ANSWER)
        .max_error_response_size(1_024);
    if let Some(token) = token {
        config = config.auth_header(token.expose_secret());
    }
    StreamableHttpClientTransport::with_client(client, config)
}
