//! The gRPC services of the agent.

mod agent;
mod job;

use futures_util::stream::BoxStream;
use http::Extensions;
use tonic::{Request, Response, Status};

pub use self::{
    agent::service as agent_service,
    job::{RPC_ROUTES, service as job_service},
};
use toolwire_server::faces::incoming;
use toolwire_tool::context::User;

type Answered<T> = Result<Response<T>, Status>;

type Streamed<T> = BoxStream<'static, Result<T, Status>>;

/// The parts of a request: who makes it, how it came, and its message.
fn split<T>(request: Request<T>) -> (User, Extensions, T) {
    let (_, extensions, message) = request.into_parts();
    (incoming::user(&extensions), extensions, message)
}
