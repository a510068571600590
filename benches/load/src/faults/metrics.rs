//! What the server says of itself to whoever scrapes it.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::Result;

/// The sum of all series of a name.
pub async fn sum(admin: SocketAddr, name: &str) -> Result<f64> {
    let mut stream = TcpStream::connect(admin).await?;
    stream.write_all(b"GET /metrics HTTP/1.0\r\nhost: localhost\r\n\r\n").await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    let of_name = |line: &&str| {
        let rest = line.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with(['{', ' ']))
    };
    let values = text.lines().filter(of_name).filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
    Ok(values.sum())
}
