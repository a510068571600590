//! Probes an address at which no gRPC server answers, once, to explain the failure of a command.

use std::{fmt, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use toolwire_base::words::one_line;

/// Maximum number of bytes of a response that are examined, and maximum wait for the connection and for them.
const ANSWER: (usize, Duration) = (1_024, Duration::from_secs(2));
/// The maximum length, in characters, of server text shown in an error.
const MAX_PROBED: usize = 200;
/// The first bytes of an HTTP/2 client: the preface and empty settings (RFC 9113 §3.4).
const GREETING: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
/// The beginning of a TLS alert, with which a TLS server answers everything but a handshake.
const TLS_ALERT: &[u8] = &[0x15, 0x03];
/// The kind of an HTTP/2 frame of settings, in the fourth byte.
const SETTINGS: u8 = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ProbeResult {
    /// A server that speaks HTTP/1, but not HTTP/2; the text of its response.
    Http1(String),
    /// A server that wants TLS first.
    Tls,
    /// A server that speaks HTTP/2, but not gRPC.
    Http2,
    /// A server that speaks something else; how it begins.
    Other(String),
    /// A server that closes the connection.
    Closed,
    /// A server that accepts the connection and sends nothing.
    Silence,
    /// No server: why.
    NoServer(String),
}

/// Probes a URL as a client without TLS.
pub(super) async fn probe(url: &str) -> ProbeResult {
    let (bytes, bound) = ANSWER;
    let mut stream = match connect(url, bound).await {
        Ok(stream) => stream,
        Err(why) => return ProbeResult::NoServer(why),
    };
    let mut received = Vec::with_capacity(bytes);
    match timeout(bound, read_response(&mut stream, &mut received)).await {
        Ok(()) if received.is_empty() => ProbeResult::Closed,
        Err(_) if received.is_empty() => ProbeResult::Silence,
        // Also after the time-out: the bytes that have arrived are examined.
        Ok(()) | Err(_) => classify(&received),
    }
}

async fn connect(url: &str, bound: Duration) -> Result<TcpStream, String> {
    let address = address(url).ok_or("the address has no host")?;
    match timeout(bound, TcpStream::connect(address)).await {
        Ok(connected) => connected.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no connection within {} s", bound.as_secs())),
    }
}

/// Reads until the peer closes or asks for TLS, which some do only after their settings.
async fn read_response(stream: &mut TcpStream, received: &mut Vec<u8>) {
    let _ = stream.write_all(GREETING).await;
    while received.len() < ANSWER.0 && !is_tls(received) && stream.read_buf(received).await.unwrap_or(0) > 0 {
    }
}

fn address(url: &str) -> Option<(String, u16)> {
    let uri: http::Uri = url.parse().ok()?;
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
    Some((uri.host()?.trim_matches(['[', ']']).to_owned(), port))
}

fn classify(bytes: &[u8]) -> ProbeResult {
    if is_tls(bytes) {
        return ProbeResult::Tls;
    }
    let text = String::from_utf8_lossy(bytes);
    if text.starts_with("HTTP/1.") {
        let (_, body) = text.split_once("\r\n\r\n").unwrap_or_default();
        let is_text = !body.trim_start().starts_with(['<', '{']);
        return ProbeResult::Http1(
            one_line(if is_text { body } else { "" }).chars().take(MAX_PROBED).collect(),
        );
    }
    if bytes.get(3) == Some(&SETTINGS) {
        return ProbeResult::Http2;
    }
    ProbeResult::Other(text.chars().take(16).filter(|c| !c.is_control()).collect())
}

/// A TLS server answers plain text with an alert, or with words: ours in GOAWAY, others over HTTP/1.1.
fn is_tls(answer: &[u8]) -> bool {
    let says = |word: &[u8]| answer.windows(word.len()).any(|it| it == word);
    answer.starts_with(TLS_ALERT) || says(b"TLS") || says(b"HTTPS")
}

impl fmt::Display for ProbeResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http1(text) => {
                f.write_str("an HTTP/1.1 server answers there, and gRPC needs HTTP/2")?;
                if text.is_empty() { Ok(()) } else { write!(f, "; it says {text:?}") }
            }
            Self::Tls => f.write_str("a server that expects TLS answers there"),
            Self::Http2 => f.write_str("an HTTP/2 server answers there, but it does not speak gRPC"),
            Self::Other(text) => write!(f, "what answers there is no HTTP server; it says {text:?}"),
            Self::Closed => f.write_str("what answers there closes the connection"),
            Self::Silence => f.write_str("connections are accepted there, but nothing answers"),
            Self::NoServer(why) => write!(f, "nothing answers there: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// The result of probing a server that sends these parts to each client.
    async fn found(parts: &[&'static [u8]]) -> ProbeResult {
        let parts = parts.to_vec();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.read_exact(&mut [0; GREETING.len()]).await.unwrap();
            stream.set_nodelay(true).unwrap();
            for part in parts {
                stream.write_all(part).await.unwrap();
                tokio::task::yield_now().await;
            }
        });
        let answer = probe(&url).await;
        serving.await.unwrap();
        answer
    }

    #[tokio::test]
    async fn what_answers_is_known_by_what_it_says() {
        assert_eq!(found(&[b"HTTP/1.1 400 Bad Request\r\n\r\n"]).await, ProbeResult::Http1(String::new()));
        let words = b"HTTP/1.1 505 HTTP Version Not Supported\r\n\r\nThis is the admin port.\n";
        assert_eq!(found(&[words]).await, ProbeResult::Http1("This is the admin port.".to_owned()));
        let page = b"HTTP/1.1 400 Bad Request\r\n\r\n<html>";
        assert_eq!(found(&[page]).await, ProbeResult::Http1(String::new()));
        assert_eq!(found(&[b"\0\0\x06\x04\0\0\0\0\0"]).await, ProbeResult::Http2);
        assert_eq!(
            found(&[b"SSH-2.0-OpenSSH_9.9\r\n"]).await,
            ProbeResult::Other("SSH-2.0-OpenSSH_".to_owned())
        );
        assert_eq!(found(&[]).await, ProbeResult::Closed);
    }

    #[tokio::test]
    async fn a_refusal_of_plain_text_is_told_from_other_answers() {
        assert_eq!(found(&[b"\x15\x03\x01\x00\x02\x02\x46"]).await, ProbeResult::Tls);
        let words = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.";
        assert_eq!(found(&[words]).await, ProbeResult::Tls);
        let go_away = b"\0\0\x1c\x07\0\0\0\0\0\0\0\0\0\0\0\0\x0cThis port speaks TLS";
        assert_eq!(found(&[b"\0\0\0\x04\0\0\0\0\0", go_away]).await, ProbeResult::Tls);
    }

    #[tokio::test]
    async fn where_nobody_listens_that_is_said() {
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        assert!(matches!(probe(&format!("http://{free}")).await, ProbeResult::NoServer(_)));
    }
}
