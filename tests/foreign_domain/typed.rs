//! The toys through their own service, and who may call it.

use futures_util::stream;
use tonic::{Code, Request, Response, Status, client::Grpc, codegen::http::uri::PathAndQuery};
use tonic_prost::ProstCodec;
use tonic_reflection::pb::v1::{
    ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
    server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
};

use crate::foreign_domain::{
    proto::{ListToysRequest, ListToysResponse, StackBlocksOutput, StackBlocksRequest, StackBlocksResponse},
    server::Server,
};

const USERS: &str = "[[auth.users]]\nuser_id = \"riley\"\ntoken = \"a-long-enough-t0ken\"\n";

/// Calls a method of the service.
async fn call<Q, A>(server: &Server, method: &'static str, request: Request<Q>) -> Result<Response<A>, Status>
where
    Q: prost::Message + Send + Sync + 'static,
    A: prost::Message + Default + Send + Sync + 'static,
{
    let mut grpc = Grpc::new(server.channel().await);
    grpc.ready().await.unwrap();
    grpc.unary(request, PathAndQuery::from_static(method), ProstCodec::<Q, A>::default()).await
}

async fn stack(server: &Server, count: i32, token: Option<&str>) -> Result<StackBlocksResponse, Status> {
    let mut request = Request::new(StackBlocksRequest { count: Some(count) });
    if let Some(token) = token {
        request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    }
    call(server, "/toy.v1.ToyService/StackBlocks", request).await.map(Response::into_inner)
}

#[tokio::test]
async fn a_typed_method_is_the_tool_with_its_provenance() {
    let server = Server::start("[toy]\nblock_cm = 5\n");
    let response = stack(&server, 2, None).await.unwrap();
    assert_eq!(response.data, Some(StackBlocksOutput { height_cm: 10 }));
    assert_eq!(response.provenance.unwrap().source_ids, ["toy:box:v1"]);
    let toys: Response<ListToysResponse> =
        call(&server, "/toy.v1.ToyService/ListToys", Request::new(ListToysRequest {})).await.unwrap();
    assert_eq!(toys.into_inner().data.unwrap().toys, ["blocks", "top"]);
}

#[tokio::test]
async fn a_typed_method_validates_as_the_manifest_says() {
    let status = stack(&Server::start(""), 101, None).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
    assert!(status.message().contains("count"), "{status:?}");
}

#[tokio::test]
async fn a_typed_method_needs_credentials_where_users_are_configured() {
    let server = Server::start(USERS);
    assert_eq!(stack(&server, 1, None).await.unwrap_err().code(), Code::Unauthenticated);
    assert_eq!(stack(&server, 1, Some("wrong")).await.unwrap_err().code(), Code::Unauthenticated);
    assert!(stack(&server, 1, Some("a-long-enough-t0ken")).await.is_ok());
}

#[tokio::test]
async fn reflection_lists_the_service() {
    let server = Server::start("");
    let request = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let mut client = ServerReflectionClient::new(server.channel().await);
    let answers = client.server_reflection_info(stream::iter([request])).await.unwrap();
    let answer = answers.into_inner().message().await.unwrap().unwrap();
    let Some(MessageResponse::ListServicesResponse(list)) = answer.message_response else { panic!("a list") };
    let names: Vec<_> = list.service.into_iter().map(|service| service.name).collect();
    assert!(names.iter().any(|name| name == "toy.v1.ToyService"), "{names:?}");
    let platform = [
        "toolwire.host.v1.ToolHostService",
        "toolwire.tasks.v1.TaskService",
        "toolwire.v1.AuditService",
        "toolwire.v1.ConfirmationService",
        "toolwire.v1.ProviderService",
        "toolwire.v1.ToolService",
        "toolwire.workspace.v1.WorkspaceService",
    ];
    let known = |name: &String| !name.starts_with("toolwire.") || platform.contains(&name.as_str());
    assert!(names.iter().all(known), "{names:?}");
}
