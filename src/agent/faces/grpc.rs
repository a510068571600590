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

#[cfg(test)]
mod tests {
    use super::*;
    use toolwire_contract::descriptors;
    use toolwire_server::faces::grpc::GrpcServices;
    use toolwire_transport::rules::{Access, Lifetime, Pool};

    #[test]
    fn cancellations_are_free_and_only_runs_and_watches_are_uncapped() {
        let offered = [("agent", agent_service()), ("agent", job_service())];
        let services = GrpcServices::new(&descriptors::pool([]).unwrap(), offered, false).unwrap();
        let own: Vec<_> =
            services.rules().iter().filter(|(method, _)| method.starts_with("toolwire.agent.v1.")).collect();
        assert!(own.len() > 8, "{own:?}");
        for (method, rule) in own {
            let (_, short) = method.split_once('/').unwrap();
            assert_eq!(rule.access, Access::User, "{method}");
            let is_uncapped = matches!(short, "RunTask" | "WatchJob");
            assert_eq!(rule.lifetime == Lifetime::Uncapped, is_uncapped, "{method}");
            assert_eq!(rule.pool == Pool::Free, short.starts_with("Cancel"), "{method}");
        }
    }
}
