//! No key is ever told: neither in what is logged, nor in errors, nor where something is shown for debugging.

use std::{
    io::Write,
    sync::{Arc, Mutex},
};

use strum::VariantArray as _;

use super::{stub::json as reply, *};
use crate::support::capture::capture;

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_key_is_in_logs_errors_or_shown() {
    let kept = Kept::default();
    let writer = kept.clone();
    // What the program's own log is set up with.
    let log =
        tracing_subscriber::fmt().with_env_filter("debug,genai=off").with_writer(move || writer.clone());
    let _log = capture(log.finish());
    let echoed = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#);
    for &provider in Provider::VARIANTS {
        let stub = Stub::answering([reply(401, &echoed)]).await;
        let model = model(&stub, provider);
        let error = answer(&model, question()).await.unwrap_err();
        assert!(stub.requests()[0].contains(KEY) || provider == Provider::Ollama, "the key is used");
        for shown in [format!("{error}"), format!("{error:?}"), format!("{model:?}"), model.id().to_owned()] {
            assert!(!shown.contains(KEY), "{shown}");
        }
    }
    let log = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("a model did not answer"), "{log}");
    assert!(!log.contains(KEY), "{log}");
}
