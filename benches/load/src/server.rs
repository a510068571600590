//! A server in a process of its own, on a processor of its own.

use std::{
    io::{BufRead, BufReader, Lines},
    net::SocketAddr,
    process::{Child, ChildStdout, Command, Stdio},
};

use crate::{Result, machine};

/// What a server says before its address.
const LISTENING: &str = "toolwire listening on ";
/// What it says before that of HTTP, which comes next.
const HTTP: &str = "toolwire http on ";
/// What it says before the address for operators, which comes after them.
const ADMIN: &str = "toolwire admin on ";

/// A server that runs. Ended when dropped.
#[derive(Debug)]
pub struct Server {
    process: Child,
    said: Lines<BufReader<ChildStdout>>,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Server {
    /// Starts a server on a processor and waits for its address.
    pub fn start(command: &mut Command, processor: usize, own: usize) -> Result<Self> {
        machine::stay_on(processor)?;
        let process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        machine::stay_on(own)?;
        let mut process = process.map_err(|error| format!("cannot start {command:?}: {error}"))?;
        let out = process.stdout.take().ok_or("no output")?;
        let mut said = BufReader::new(out).lines();
        if let Some(address) = after(&mut said, LISTENING)? {
            return Ok(Self { process, said, address: address.parse()? });
        }
        let _ = process.kill();
        Err(format!("{command:?} ended without an address").into())
    }

    /// Where it speaks HTTP. Asked for once, and before the next.
    pub fn http(&mut self) -> Result<SocketAddr> {
        Ok(after(&mut self.said, HTTP)?.ok_or("no address for HTTP")?.parse()?)
    }

    /// Where it answers operators. Asked for once.
    pub fn admin(&mut self) -> Result<SocketAddr> {
        Ok(after(&mut self.said, ADMIN)?.ok_or("no address for operators")?.parse()?)
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.process.id()
    }
}

/// What follows these words in the first line that begins with them.
fn after(said: &mut Lines<BufReader<ChildStdout>>, words: &str) -> Result<Option<String>> {
    for line in said {
        if let Some(rest) = line?.strip_prefix(words) {
            return Ok(Some(rest.to_owned()));
        }
    }
    Ok(None)
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
