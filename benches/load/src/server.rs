//! A server in a process of its own, on a processor of its own.

use std::{
    io::{BufRead, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
};

use crate::{Result, machine};

/// What a server says before its address.
const LISTENING: &str = "toolwire listening on ";

/// A server that runs. Ended when dropped.
#[derive(Debug)]
pub struct Server {
    process: Child,
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
        for line in BufReader::new(out).lines() {
            if let Some(address) = line?.strip_prefix(LISTENING) {
                return Ok(Self { address: address.parse()?, process });
            }
        }
        let _ = process.kill();
        Err(format!("{command:?} ended without an address").into())
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
