//! What becomes of workloads whose entries change while they watch.

use std::fs;

use tonic::{Code, Status, Streaming};
use toolwire::contract::proto::v1::{
    WatchEventType, WatchToolsRequest, WatchToolsResponse, tool_service_client::ToolServiceClient,
};

use super::{AGENT, Mesh, Pair, reason, with};

impl Mesh {
    /// Replaces a text of the configuration.
    fn replace(&self, text: &str, by: &str) {
        let path = self.directory.path().join("toolwire.toml");
        let before = fs::read_to_string(&path).unwrap();
        assert!(before.contains(text), "{before}");
        fs::write(self.directory.path().join("new.toml"), before.replace(text, by)).unwrap();
        fs::rename(self.directory.path().join("new.toml"), path).unwrap();
    }

    async fn watch(&self, pair: &Pair) -> Streaming<WatchToolsResponse> {
        let mut client = ToolServiceClient::new(self.channel(Some(pair)).await);
        let watched = client.watch_tools(with(WatchToolsRequest::default(), None)).await;
        let mut stream = watched.unwrap().into_inner();
        while stream.message().await.unwrap().unwrap().r#type() != WatchEventType::Synced {}
        stream
    }
}

async fn end(mut stream: Streaming<WatchToolsResponse>) -> Status {
    loop {
        match stream.message().await {
            Ok(message) => assert!(message.is_some(), "ended well"),
            Err(status) => return status,
        }
    }
}

#[tokio::test]
async fn a_watch_of_a_workload_ends_with_its_group_and_with_its_entry() {
    let mut mesh = Mesh::start("optional").await;
    let agent = mesh.pair(&[AGENT]);
    let stream = mesh.watch(&agent).await;
    mesh.replace("groups = ['agents']", "groups = ['agents', 'others']");
    let (line, _) = mesh.program.wait_for_log("are those of the settings now").await;
    assert_eq!(line["changes"], "workload changed: spiffe://example.org/ns/*/sa/agent");
    let more = mesh.watch(&agent).await;

    mesh.replace("groups = ['agents', 'others']", "groups = ['others', 'agents']");
    mesh.program.wait_for_log("are those of the settings now").await;
    mesh.replace("groups = ['others', 'agents']", "groups = ['agents']");
    let status = end(more).await;
    assert_eq!((status.code(), reason(&status).as_str()), (Code::PermissionDenied, "RIGHT_WITHDRAWN"));
    assert_eq!(mesh.tools(Some(&agent), None).await.unwrap(), ["debug_write", "get_quotes"]);

    mesh.replace("sa/agent'\nuser", "sa/other'\nuser");
    let status = end(stream).await;
    assert_eq!((status.code(), reason(&status).as_str()), (Code::Unauthenticated, "CREDENTIALS_REJECTED"));
    assert!(mesh.tools(Some(&agent), None).await.is_err());
}
