//! What an operator at the terminal is told of sources that fail.

use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

use super::{stderr, stdout, toolwire};

#[tokio::test]
async fn an_operator_is_told_why_an_answer_could_not_be_read() {
    let server = MockServer::start().await;
    let answer = ResponseTemplate::new(200).insert_header("set-cookie", "nsit=one").set_body_string("[{");
    Mock::given(any()).respond_with(answer).mount(&server).await;
    let directory = tempfile::tempdir().unwrap();
    for format in ["text", "json"] {
        let output = toolwire(&directory)
            .args(["call", "get_insider_trading", "symbol=TCS", "--sources", "embedded,nse=live"])
            .args(["--format", format])
            .env("TOOLWIRE_SOURCES_NSE_BASE_URL", server.uri())
            .output()
            .await
            .unwrap();
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(told.contains("source nse: malformed: not the JSON that was expected: "), "{told}");
        assert!(told.contains("PARSE_ERROR") || stdout(&output).contains("PARSE_ERROR"), "{output:?}");
    }
}
