//! Names of span attributes and their fixed values, in one place.
//!
//! OpenTelemetry semantic conventions: 1.44 for RPC and gRPC (release candidate), and those for generative AI. Their
//! main branch has since renamed `rpc.response.status_code` to `rpc.status_code`: when that is released, this file
//! changes and nothing else.

/// The RPC system; always [`GRPC`].
pub const RPC_SYSTEM_NAME: &str = "rpc.system.name";
/// Full method name `package.Service/Method`, or [`OTHER`].
pub const RPC_METHOD: &str = "rpc.method";
/// The name of an unknown method, cut to a bound.
pub const RPC_METHOD_ORIGINAL: &str = "rpc.method_original";
/// Name of the final gRPC status: `OK`, `DEADLINE_EXCEEDED`.
pub const RPC_RESPONSE_STATUS_CODE: &str = "rpc.response.status_code";
/// Host part of `:authority`; of a request to a source, its host.
pub const SERVER_ADDRESS: &str = "server.address";
/// Port part of `:authority`; of a request to a source, its port.
pub const SERVER_PORT: &str = "server.port";
pub const NETWORK_PEER_ADDRESS: &str = "network.peer.address";
pub const NETWORK_PEER_PORT: &str = "network.peer.port";
/// The SPIFFE id that the peer proved.
pub const WORKLOAD_ID: &str = "toolwire.workload.id";
/// What kind of failure ended the operation.
pub const ERROR_TYPE: &str = "error.type";

/// The operation; always [`EXECUTE_TOOL`].
pub const GEN_AI_OPERATION_NAME: &str = "gen_ai.operation.name";
pub const GEN_AI_TOOL_NAME: &str = "gen_ai.tool.name";
/// The kind of tool; always [`FUNCTION`].
pub const GEN_AI_TOOL_TYPE: &str = "gen_ai.tool.type";
pub const GEN_AI_TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
/// The call that made this one.
pub const PARENT_CALL_ID: &str = "toolwire.parent_call.id";
/// The confirmation that a call waits for.
pub const CONFIRMATION_ID: &str = "toolwire.confirmation.id";
/// Whether a tier had the result.
pub const CACHE_HIT: &str = "toolwire.cache.hit";
/// The tier: `request`, `session` or `persistent`.
pub const CACHE_TIER: &str = "toolwire.cache.tier";

/// The method of a message of the Model Context Protocol.
pub const MCP_METHOD_NAME: &str = "mcp.method.name";
/// The session that a client of the Model Context Protocol names.
pub const MCP_SESSION_ID: &str = "mcp.session.id";

/// Method of a request to a source, or to this server.
pub const HTTP_REQUEST_METHOD: &str = "http.request.method";
/// Path of a request to this server, with names where it has values.
pub const HTTP_ROUTE: &str = "http.route";
pub const HTTP_RESPONSE_STATUS_CODE: &str = "http.response.status_code";
/// URL of a request to a source, without credentials and with its query redacted.
pub const URL_FULL: &str = "url.full";
/// Path of a request to this server, without its query.
pub const URL_PATH: &str = "url.path";
/// `http` or `https`.
pub const URL_SCHEME: &str = "url.scheme";
/// The source, by its name in manifests and limits.
pub const SOURCE_NAME: &str = "toolwire.source.name";

/// Span name, as `tracing-opentelemetry` reads it.
pub const OTEL_NAME: &str = "otel.name";
/// Span kind, as `tracing-opentelemetry` reads it.
pub const OTEL_KIND: &str = "otel.kind";
/// Span status, as `tracing-opentelemetry` reads it.
pub const OTEL_STATUS_CODE: &str = "otel.status_code";

/// The name of the spans of RPCs within the process.
pub const RPC: &str = "rpc";
/// The name of the spans of other requests to this server.
pub const HTTP: &str = "http";
/// Value of [`RPC_SYSTEM_NAME`], and the name of a span whose method is unknown.
pub const GRPC: &str = "grpc";
/// Value of [`RPC_METHOD`] for a method that is not served.
pub const OTHER: &str = "_OTHER";
/// Value of [`OTEL_KIND`].
pub const SERVER: &str = "server";
/// Value of [`OTEL_KIND`] for a request to a source.
pub const CLIENT: &str = "client";
/// Value of [`OTEL_KIND`] for what stays in the process.
pub const INTERNAL: &str = "internal";
/// Value of [`GEN_AI_OPERATION_NAME`].
pub const EXECUTE_TOOL: &str = "execute_tool";
/// Value of [`GEN_AI_TOOL_TYPE`].
pub const FUNCTION: &str = "function";
/// Value of [`OTEL_STATUS_CODE`] for a failure.
pub const ERROR: &str = "error";
