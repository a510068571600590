//! A site that answers as all sources do, but for one document.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::interval,
};
use url::Url;

use super::{attack::Attack, good};

/// How often a byte comes of what drips.
const DRIP: Duration = Duration::from_millis(20);

/// A running site. It ends when it is dropped.
pub(super) struct Site {
    pub(super) base: Url,
    /// Paths and User-Agents of the requests so far.
    seen: Arc<Mutex<Vec<(String, String)>>>,
    server: JoinHandle<()>,
}

impl Site {
    /// One that does something to the documents below a path.
    pub(super) async fn start(attack: Attack, target: &'static str, elsewhere: Option<Url>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}/", listener.local_addr().expect("an address"));
        let seen = Arc::<Mutex<Vec<_>>>::default();
        let elsewhere = elsewhere.map(String::from).unwrap_or_default();
        let server = tokio::spawn({
            let seen = Arc::clone(&seen);
            async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let (seen, elsewhere) = (Arc::clone(&seen), elsewhere.clone());
                    tokio::spawn(async move { serve(stream, attack, target, &elsewhere, &seen).await });
                }
            }
        });
        Self { base: base.parse().expect("an address"), seen, server }
    }

    /// How many requests there were.
    pub(super) fn requests(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    /// Under which name each was made.
    pub(super) fn user_agents(&self) -> Vec<(String, String)> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(
    stream: TcpStream,
    attack: Attack,
    target: &str,
    elsewhere: &str,
    seen: &Mutex<Vec<(String, String)>>,
) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let (method, path, user_agent) = request(&mut stream).await?;
    seen.lock().unwrap().push((path.clone(), user_agent));
    let is_hit = !target.is_empty() && path.starts_with(target) && !path.contains("moved=1");
    // A form submission is not a document.
    let is_hit = is_hit && (method == "GET" || target.starts_with("/reddit-token/"));
    let (headers, good) = good::answer(&method, &path)?;
    if !is_hit || attack == Attack::None {
        stream
            .write_all(&super::attack::response(good::status(&method, &path), &headers, good.as_bytes()))
            .await
            .ok()?;
        return stream.shutdown().await.ok();
    }
    let media_type = headers.lines().find_map(|line| line.strip_prefix("content-type: ")).unwrap_or_default();
    let others: String = headers
        .lines()
        .filter(|line| !line.starts_with("content-type"))
        .fold(String::new(), |all, line| all + line + "\r\n");
    let mut answer = attack.answer(&path, elsewhere, media_type, &good);
    if attack == Attack::RedirectWithin || !others.is_empty() {
        // What a good answer sets besides, such as a cookie, comes all the same.
        let end = answer.windows(2).position(|it| it == b"\r\n")? + 2;
        answer.splice(end..end, others.bytes());
    }
    if attack == Attack::Drip {
        let mut interval = interval(DRIP);
        for byte in answer {
            interval.tick().await;
            stream.write_all(&[byte]).await.ok()?;
        }
    } else {
        stream.write_all(&answer).await.ok()?;
    }
    stream.shutdown().await.ok()
}

/// Method, path with query, and User-Agent of a request, whose body is read to its end.
async fn request(stream: &mut BufReader<TcpStream>) -> Option<(String, String, String)> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let mut words = line.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut length, mut user_agent) = (0, String::new());
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse().ok()?;
            }
            Some((name, value)) if name.eq_ignore_ascii_case("user-agent") => {
                value.clone_into(&mut user_agent);
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some((method, path, user_agent))
}
