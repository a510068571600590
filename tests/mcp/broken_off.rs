//! `toolwire mcp --server`, whose connection breaks.

use std::{future::pending, net::SocketAddr};

use serde_json::json;
use tokio::{
    io::copy,
    join,
    net::{TcpListener, TcpStream},
    select,
    sync::watch,
    task::JoinHandle,
};
use toolwire::tool::context::RequestId;

use super::client::{Era, Message, Stdio, house};

/// The way to a server.
struct Way {
    address: SocketAddr,
    passes: watch::Sender<Passes>,
    accepting: JoinHandle<()>,
}

#[derive(Clone, Copy, PartialEq)]
enum Passes {
    All,
    /// The server's answers are held back.
    Requests,
    Nothing,
}

impl Way {
    async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (passes, state) = watch::channel(Passes::All);
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(server).await.unwrap();
                tokio::spawn(carry(client, server, state.clone()));
            }
        });
        Self { address, passes, accepting }
    }

    /// Breaks its connections, and takes no others.
    async fn end(self) {
        self.accepting.abort();
        // The client connects again as soon as its connection is broken.
        self.accepting.await.unwrap_err();
        self.passes.send_replace(Passes::Nothing);
    }
}

async fn carry(mut client: TcpStream, mut server: TcpStream, mut state: watch::Receiver<Passes>) {
    let mut until = state.clone();
    let ((mut requests, mut to_client), (mut answers, mut to_server)) = (client.split(), server.split());
    let back = async {
        select! {
            _ = copy(&mut answers, &mut to_client) => {}
            _ = state.wait_for(|passes| *passes != Passes::All) => {}
        }
        pending::<()>().await;
    };
    select! {
        _ = async { join!(copy(&mut requests, &mut to_server), back) } => {}
        _ = until.wait_for(|passes| *passes == Passes::Nothing) => {}
    }
}

#[tokio::test]
async fn the_outcome_of_a_write_is_unknown_if_the_connection_breaks_before_its_first_event() {
    for request_id in [None, Some(RequestId::generate().to_string())] {
        let house = house();
        let way = Way::to(house.server.address).await;
        let mut stdio = Stdio::start(&["--server", &format!("http://{}", way.address)]);
        stdio.greet(Era::Old).await;
        // From here on the tool is known, and a call is all that is sent.
        let first = Message::call(Era::Old, "debug_write", &json!({"value": "first"}), &json!({}));
        assert!(stdio.ask(&first).await["result"]["structuredContent"].is_object());
        way.passes.send_replace(Passes::Requests);
        let mut meta = json!({});
        if let Some(id) = &request_id {
            meta["toolwire/request_id"] = json!(id);
        }
        let arguments = json!({"value": "x", "duration": "60s"});
        let write = Message::call(Era::Old, "debug_write", &arguments, &meta);
        stdio.say(&write.body.to_string()).await;
        // The call and its work.
        house.until_running(2).await;
        way.end().await;
        let answer = stdio.answer_to(&write).await;
        let error = &answer["result"]["_meta"]["toolwire/error"];
        let expected = (&json!("OUTCOME_UNKNOWN"), &json!(request_id.is_some()), &json!(request_id));
        assert_eq!((&error["code"], &error["retryable"], &error["request_id"]), expected, "{answer}");

        // Nothing was sent where no connection was made, and nothing has changed by a read.
        let mut unsent = write;
        unsent.body["id"] = "unsent".into();
        stdio.say(&unsent.body.to_string()).await;
        let answer = stdio.answer_to(&unsent).await;
        assert_eq!(answer["result"]["_meta"]["toolwire/error"]["code"], "UNAVAILABLE", "{answer}");
    }
}
