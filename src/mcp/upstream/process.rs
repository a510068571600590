//! An MCP server as a child process in a process group of its own. However this process ends, the child's input ends
//! with it, and a [guard](super::guard) ends what is left.

use std::{
    io,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
};

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process_group};
use secrecy::{ExposeSecret, SecretString};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use super::{
    bounds::{GRACE, MAX_LOG_LINE},
    guard,
    meter::Meter,
};
use toolwire_base::words::visible;

/// Ends the whole group when it is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    #[cfg(unix)]
    group: Option<Pid>,
    last_line: Arc<Mutex<String>>,
}

impl Process {
    /// Starts a program with exactly the given environment, but for the mark of a guard.
    pub(crate) fn start(
        command: &[String],
        env: &[(String, SecretString)],
    ) -> io::Result<(Self, ChildStdout, ChildStdin)> {
        let [program, arguments @ ..] = command else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no program is named"));
        };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .envs(env.iter().map(|(name, value)| (name, value.expose_secret())))
            .envs(guard::mark())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        #[cfg(unix)]
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let last_line = Arc::default();
        if let Some(stderr) = child.stderr.take() {
            tokio::spawn(keep_last_line(program.clone(), stderr, Arc::clone(&last_line)));
        }
        let pipes = child.stdout.take().zip(child.stdin.take());
        let process = Self {
            child,
            #[cfg(unix)]
            group,
            last_line,
        };
        let (stdout, stdin) = pipes.ok_or_else(|| io::Error::other("the process has no pipes"))?;
        Ok((process, stdout, stdin))
    }

    /// Waits for a process whose input is closed, and ends it if it does not end by itself.
    pub(crate) async fn end(mut self) {
        if timeout(GRACE, self.child.wait()).await.is_err() {
            #[cfg(unix)]
            self.signal(Signal::TERM);
            let _ = timeout(GRACE, self.child.wait()).await;
        }
    }

    /// What it wrote last to its standard error, where most programs say why they end.
    pub(crate) fn last_line(&self) -> String {
        self.last_line.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    #[cfg(unix)]
    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It may be gone.
            let _ = kill_process_group(group, signal);
        }
    }
}

#[cfg(unix)]
impl Drop for Process {
    /// What the program has started may outlive it.
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

async fn keep_last_line(program: String, stderr: ChildStderr, last_line: Arc<Mutex<String>>) {
    let (mut reader, meter) = (BufReader::new(stderr), Meter::default());
    loop {
        meter.wait().await;
        let mut line = Vec::new();
        let most = u64::try_from(MAX_LOG_LINE).unwrap_or(u64::MAX);
        match (&mut reader).take(most).read_until(b'\n', &mut line).await {
            Ok(0) | Err(_) => return,
            Ok(length) => meter.spend(length),
        }
        let line = visible(String::from_utf8_lossy(&line).trim());
        tracing::debug!(program, line, "an MCP server writes to its standard error");
        if !line.is_empty() {
            *last_line.lock().unwrap_or_else(PoisonError::into_inner) = line;
        }
    }
}
