//! A collector that takes connections and never answers does not hold up the end of the process.

use serde_json::json;
use tokio::net::TcpListener;

use super::{call, hasty, terminate};

#[tokio::test]
async fn the_drain_does_not_wait_for_a_collector_that_hangs() {
    // The kernel takes connections; nobody reads them.
    let hanging = TcpListener::bind("127.0.0.1:0").await.expect("binds");
    let endpoint = format!("http://{}", hanging.local_addr().expect("bound"));
    let program = hasty(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)]).await;
    call(&program.channel().await, "debug_sleep", json!({"duration": "0s"}), None).await.expect("a call");
    terminate(&program);
    let (status, log) = program.wait_end().await;
    assert_eq!(status.code(), Some(0));
    // What the SDK would say after its own patience, 5 s for each of traces and metrics.
    assert!(log.contains("drained") && !log.contains("shutdown timing out"), "{log}");
}
