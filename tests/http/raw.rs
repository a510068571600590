//! A client that says exactly what it is told to.

use std::{collections::BTreeMap, io, net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

/// What would hang fails after so long.
const SOON: Duration = Duration::from_secs(20);

/// A connection.
pub(crate) struct Raw {
    pub(crate) stream: TcpStream,
    /// What came and was not looked at yet.
    came: Vec<u8>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// By names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Raw {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self::of(TcpStream::connect(address).await.unwrap())
    }

    pub(crate) fn of(stream: TcpStream) -> Self {
        Self { stream, came: Vec::new() }
    }

    /// Whether the other side has closed it, as far as is known here.
    pub(crate) fn is_closed(&mut self) -> bool {
        loop {
            match self.stream.try_read_buf(&mut self.came) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(error) => return error.kind() != io::ErrorKind::WouldBlock,
            }
        }
    }

    /// Reads to the end, in whatever way it comes.
    pub(crate) async fn ends(&mut self) -> bool {
        let end = async {
            while self.stream.read_buf(&mut self.came).await.is_ok_and(|read| read > 0) {
                self.came.clear();
            }
        };
        timeout(SOON, end).await.is_ok()
    }

    pub(crate) async fn say(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.unwrap();
    }

    /// A request with `Host` and these headers.
    pub(crate) async fn ask(&mut self, method: &str, path: &str, headers: &[&str], body: &str) {
        let mut text = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n");
        for header in headers {
            text.extend([*header, "\r\n"]);
        }
        if !matches!(method, "GET" | "HEAD") {
            text.extend(["content-length: ", &body.len().to_string(), "\r\n"]);
        }
        self.say(format!("{text}\r\n{body}")).await;
    }

    /// The next answer, whose end its length says or its last chunk.
    pub(crate) async fn answer(&mut self) -> Answer {
        let mut answer = self.head().await;
        answer.body = match answer.headers.get("content-length") {
            Some(length) => self.take(length.parse().unwrap()).await,
            None if answer.headers.get("transfer-encoding").is_some_and(|it| it == "chunked") => {
                self.chunks().await
            }
            None => String::new(),
        };
        answer
    }

    /// The headers of the next answer.
    pub(crate) async fn head(&mut self) -> Answer {
        let head = self.until("\r\n\r\n").await;
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let pair =
            |line: &str| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
        Answer { status, headers: lines.filter_map(pair).collect(), body: String::new() }
    }

    /// Everything up to and with `end`.
    pub(crate) async fn until(&mut self, end: &str) -> String {
        loop {
            if let Some(at) = find(&self.came, end.as_bytes()) {
                return self.split_off(at + end.len());
            }
            assert!(self.more().await > 0, "ended without {end:?}: {}", String::from_utf8_lossy(&self.came));
        }
    }

    /// Everything to the end of the connection, which a reset is not.
    pub(crate) async fn rest(&mut self) -> String {
        while self.more().await > 0 {}
        self.split_off(self.came.len())
    }

    async fn chunks(&mut self) -> String {
        let mut body = String::new();
        loop {
            let line = self.until("\r\n").await;
            let length = usize::from_str_radix(line.trim_end(), 16).unwrap();
            let chunk = self.take(length + 2).await;
            if length == 0 {
                return body;
            }
            body += chunk.trim_end_matches("\r\n");
        }
    }

    async fn take(&mut self, length: usize) -> String {
        while self.came.len() < length {
            assert!(self.more().await > 0, "ended too soon: {}", String::from_utf8_lossy(&self.came));
        }
        self.split_off(length)
    }

    fn split_off(&mut self, length: usize) -> String {
        String::from_utf8(self.came.drain(..length).collect()).unwrap()
    }

    async fn more(&mut self) -> usize {
        let read = timeout(SOON, self.stream.read_buf(&mut self.came)).await;
        read.expect("something comes").unwrap()
    }
}

impl Answer {
    /// The code of a problem.
    #[track_caller]
    pub(crate) fn code(&self) -> String {
        assert_eq!(self.headers["content-type"], "application/problem+json", "{self:?}");
        let problem: serde_json::Value = serde_json::from_str(&self.body).unwrap();
        assert_eq!(problem["status"], self.status, "{self:?}");
        problem["code"].as_str().unwrap().to_owned()
    }
}

/// One request on a connection of its own.
pub(crate) async fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[&str],
    body: &str,
) -> Answer {
    let mut raw = Raw::connect(address).await;
    raw.ask(method, path, headers, body).await;
    // What its headers say of a body is of none.
    if method == "HEAD" { raw.head().await } else { raw.answer().await }
}

fn find(bytes: &[u8], end: &[u8]) -> Option<usize> {
    bytes.windows(end.len()).position(|window| window == end)
}
