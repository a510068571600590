//! Decodes and validates the parts that requests for calls have in common. Requests within the process pass the same
//! checks ([`enter`]).

use std::time::Duration;

use futures_util::future::BoxFuture;
use http::{Extensions, HeaderMap, HeaderName};
use strum::VariantArray as _;
use tonic::Request;

use crate::service::{Filter, request};
use toolwire_base::{clock, duration};
use toolwire_contract::{
    Refusal,
    arguments::{Arguments, Unreadable},
    proto::v1::{self, invoke_tool_request::Input},
};
use toolwire_engine::{
    pipeline::{ArrivalTime, Call, CallOptions, Target},
    registry::{Category, ToolType},
};
use toolwire_state::audit::{RequestOrigin, on_behalf};
use toolwire_tool::context::{BearerToken, ClientName, Origin, SessionId, ToolContext, User};
use toolwire_transport::{Arrival, CallersTrace, LoggedByPipeline, grpc_timeout};

/// The metadata of typed requests and of requests over HTTP.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-toolwire-request-id");
const TASK_ID: HeaderName = HeaderName::from_static("x-toolwire-task-id");
const SESSION_ID: HeaderName = HeaderName::from_static("x-toolwire-session-id");
const EXPECTED_DIGEST: HeaderName = HeaderName::from_static("x-toolwire-expected-digest");
const WAIT: HeaderName = HeaderName::from_static("x-toolwire-wait-for-confirmation");
const REQUIRE: HeaderName = HeaderName::from_static("x-toolwire-require-confirmation");
/// The face through which a program over gRPC got a decision, such as `toolwire mcp --server`.
pub(crate) const VIA: HeaderName = HeaderName::from_static("x-toolwire-via");
const RESUME: HeaderName = HeaderName::from_static("x-toolwire-resume-equal-write");

/// The time of a call whose caller states none: longer than any cap.
const UNBOUNDED: Duration = Duration::from_hours(24);
/// The hint for required parameters that are missing from a structure without fields. Client libraries that load
/// `.proto` files at run time take a plain object for `google.protobuf.Struct` and drop all of its keys without a word.
const EMPTY_STRUCT: &str = "`arguments` arrived as an empty Struct. If your program did fill it, its proto loader \
                            dropped the keys: send `arguments_json`, or see docs/CLIENTS.md on Struct";

/// Identity of the caller of a method that is not a tool.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The user, by verified credentials.
    pub user: User,
    /// The session that the metadata names, if any.
    pub session_id: Option<SessionId>,
}

impl Caller {
    /// The caller's identity. A session id that is too long is refused.
    ///
    /// # Panics
    /// If the method is public: then there is no user.
    pub fn of<T>(request: &Request<T>) -> Result<Self, Refusal> {
        Ok(Self { user: user(request.extensions()), session_id: session(request.metadata().as_ref())? })
    }
}

/// A call with the identity and the deadline of its request. Boxed where it is made: each function that it goes through
/// would copy it.
pub fn call(extensions: &Extensions, target: Target, arguments: Result<Arguments, Unreadable>) -> Box<Call> {
    let (arrived, context) = caller(extensions);
    Box::new(Call::new_at(arrived, context, target, arguments))
}

/// The arrival of a request, and a context with its identity and its deadline.
pub fn caller(extensions: &Extensions) -> (ArrivalTime, ToolContext) {
    let user = user(extensions);
    let arrival = extensions.get::<Arrival>();
    let arrived = arrival.map_or_else(ArrivalTime::now, |it| ArrivalTime { at: it.at, wall: it.wall });
    let timeout = arrival.and_then(|it| it.timeout).unwrap_or(UNBOUNDED);
    let deadline = arrived.at.checked_add(timeout).unwrap_or_else(|| clock::now() + UNBOUNDED);
    let credentials = extensions.get::<BearerToken>().cloned();
    let trace_id = extensions.get::<CallersTrace>().map(|it| it.0);
    let (origin, client) = (origin(extensions), extensions.get::<ClientName>().cloned());
    let context = ToolContext { origin, client, trace_id, credentials, ..ToolContext::new(user, deadline) };
    (arrived, context)
}

/// The message of a request, and a context with its identity, its deadline, and the fields that it may set.
pub fn split<T>(
    request: Request<T>,
    context: impl FnOnce(&mut T) -> Option<v1::ToolContext>,
) -> Result<(ToolContext, T), Refusal> {
    let (_, extensions, mut message) = request.into_parts();
    let (_, mut own) = caller(&extensions);
    self::context(&mut own, context(&mut message).unwrap_or_default())?;
    Ok((own, message))
}

/// Inserts into a request of this program to itself what the layers insert into those of connections: its user and its
/// arrival, with the shorter of its time-out and `cap`.
pub fn enter<B>(request: &mut http::Request<B>, user: User, cap: Duration, face: &'static str) {
    let requested = grpc_timeout::in_headers(request.headers()).ok().flatten();
    let ArrivalTime { at, wall } = ArrivalTime::now();
    let timeout = Some(requested.map_or(cap, |requested| requested.min(cap)));
    let arrival = Arrival { at, wall, timeout, peer: None, face };
    request.extensions_mut().insert(arrival);
    request.extensions_mut().insert(user);
}

/// The face and the peer of a request.
pub fn origin(extensions: &Extensions) -> Origin {
    let arrival = extensions.get::<Arrival>();
    let peer = arrival.and_then(|it| it.peer);
    Origin {
        face: arrival.map_or("grpc", |it| it.face),
        peer: peer.map(|address| address.ip().to_canonical()),
    }
}

/// Runs the work of a request that is not a call, so that the audit records of its changes name the request's origin.
pub fn record_doing<'a, T: 'a>(
    extensions: &Extensions,
    doing: impl Future<Output = T> + Send + 'a,
) -> BoxFuture<'a, T> {
    let user = user(extensions);
    let (known_by, workload) = (user.known_by, user.recorded_workload().cloned());
    let trace_id = extensions.get::<CallersTrace>().map(|it| it.0);
    Box::pin(on_behalf(RequestOrigin { known_by, workload, origin: origin(extensions), trace_id }, doing))
}

/// The caller's identity.
pub fn user(extensions: &Extensions) -> User {
    extensions.get::<User>().cloned().expect("every RPC of our services requires a user")
}

/// Marks the request as a call that goes to the pipeline, whose log line replaces that of the transport.
pub fn hand_over(extensions: &Extensions) {
    if let Some(logged_by_pipeline) = extensions.get::<LoggedByPipeline>() {
        logged_by_pipeline.set();
    }
}

/// A hint for a caller that lacks required parameters, from the form of its arguments.
pub(super) fn missing_hint(input: Option<&Input>) -> Option<&'static str> {
    match input {
        Some(Input::Arguments(structure)) if structure.fields.is_empty() => Some(EMPTY_STRUCT),
        _ => None,
    }
}

/// On whose behalf the tool is called. Identity and deadline are never taken from here.
pub fn context(own: &mut ToolContext, context: v1::ToolContext) -> Result<(), Refusal> {
    if claims(&context) {
        let message = "may set only task_id, session_id and attributes: identity comes from your credentials \
                       and the deadline from grpc-timeout";
        return Err(request::refuse("context", "read-only", message));
    }
    own.task_id = request::task_id("context.task_id", &context.task_id)?;
    own.session_id = request::session_id("context.session_id", &context.session_id)?;
    own.attributes = request::attributes("context.attributes", context.attributes)?;
    Ok(())
}

/// The filter of a listing.
pub fn filter(listing: v1::ListToolsRequest) -> Result<Filter, Refusal> {
    let (category, kind) = (listing.category(), listing.r#type());
    let filter = Filter {
        // Unspecified matches no variant, and so filters nothing.
        category: Category::VARIANTS.iter().copied().find(|it| v1::ToolCategory::from(*it) == category),
        kind: ToolType::VARIANTS.iter().copied().find(|it| v1::ToolType::from(*it) == kind),
        ..Filter::with_tags(request::tags("tags", listing.tags)?)
    };
    Ok(filter.with_words(request::search("text", &listing.text)?))
}

/// Task, session, `request_id` and options of a typed request, which travel as metadata.
pub(super) fn metadata(call: &mut Call, metadata: &HeaderMap) -> Result<(), Refusal> {
    call.request_id = request::request_id("request_id", text(metadata, &REQUEST_ID)?)?;
    call.context.task_id = request::task_id(TASK_ID.as_str(), text(metadata, &TASK_ID)?)?;
    call.context.session_id = session(metadata)?;
    call.options = options(metadata)?.if_any();
    Ok(())
}

fn options(metadata: &HeaderMap) -> Result<CallOptions, Refusal> {
    let malformed = |header: &HeaderName, what: &str| request::refuse(header.as_str(), "format", what);
    let wait = match text(metadata, &WAIT)? {
        "" => None,
        length => Some(duration::parse(length).map_err(|what| malformed(&WAIT, &what.to_string()))?),
    };
    let flag = |header: &HeaderName| match text(metadata, header)? {
        "" | "false" => Ok(false),
        "true" => Ok(true),
        _ => Err(malformed(header, "must be true or false")),
    };
    Ok(CallOptions {
        expected_digest: request::expected_digest(
            EXPECTED_DIGEST.as_str(),
            text(metadata, &EXPECTED_DIGEST)?,
        )?,
        wait_for_confirmation: wait,
        require_confirmation: flag(&REQUIRE)?,
        keep_over_tokens: None,
        resume_equal_write: flag(&RESUME)?,
        deliver_by_get_call: false,
    })
}

/// The session of a typed request.
fn session(metadata: &HeaderMap) -> Result<Option<SessionId>, Refusal> {
    request::session_id(SESSION_ID.as_str(), text(metadata, &SESSION_ID)?)
}

/// The text of a header; empty without one. A malformed value is refused, not taken for absent: a write would lose its
/// `request_id`.
fn text<'a>(metadata: &'a HeaderMap, key: &HeaderName) -> Result<&'a str, Refusal> {
    let mut values = metadata.get_all(key).iter();
    let malformed = || request::refuse(key.as_str(), "format", "must be visible ASCII characters, sent once");
    match (values.next(), values.next()) {
        (None, _) => Ok(""),
        (Some(value), None) => value.to_str().map_err(|_| malformed()),
        (Some(_), Some(_)) => Err(malformed()),
    }
}

fn claims(context: &v1::ToolContext) -> bool {
    let v1::ToolContext { user_id, user_email, user_role, call_id, parent_call_id, deadline, .. } = context;
    [user_id, user_email, user_role, call_id, parent_call_id].into_iter().any(|text| !text.is_empty())
        || deadline.is_some()
}
