//! The real program, serving on a free port.

use std::{
    fs,
    net::SocketAddr,
    path::Path,
    process::{ExitStatus, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStderr, ChildStdout, Command},
};
use tonic::transport::{Channel, Endpoint};

use super::state;

const PROGRAM: &str = env!("CARGO_BIN_EXE_toolwire");

/// Holds a terminal open whose session is that of the program, and leaves the program's output where its own goes.
const TERMINAL: &str = "
import os, pty, signal, sys
out, err = os.dup(1), os.dup(2)
pid, _ = pty.fork()
if not pid:
    os.dup2(out, 1), os.dup2(err, 2)
    os.execv(sys.argv[1], sys.argv[1:])
signal.pause()
";

/// A running `toolwire serve --log json --diagnostics`, with a state of its own unless it is told otherwise. It ends
/// when it is dropped.
pub struct Program {
    child: Child,
    pub address: SocketAddr,
    /// The HTTP listener, if the arguments ask for one.
    pub http: Option<SocketAddr>,
    /// The admin endpoint, if the arguments ask for one.
    pub admin: Option<SocketAddr>,
    log: Lines<BufReader<ChildStderr>>,
    _state: TempDir,
}

impl Program {
    /// Starts it in the given directory with further arguments and variables.
    pub async fn start(directory: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::by(Command::new(PROGRAM), directory, arguments, variables).await
    }

    /// The same, and a limit on the size of files is a failed write rather than the end of the process.
    pub async fn with_limited_files(arguments: &[&str]) -> Self {
        Self::ignoring("XFSZ", arguments, &[]).await
    }

    /// The same with these signals ignored from the start, as under `nohup`.
    pub async fn ignoring(signals: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("trap '' {signals}; exec \"$0\" \"$@\""), PROGRAM]);
        Self::by(shell, Path::new("."), arguments, variables).await
    }

    /// The same in a session of its own, without a terminal that can be closed.
    pub async fn without_terminal(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::without_terminal_in(Path::new("."), arguments, variables).await
    }

    /// The same in the given directory.
    pub async fn without_terminal_in(
        directory: &Path,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let mut setsid = Command::new("setsid");
        setsid.arg(PROGRAM);
        Self::by(setsid, directory, arguments, variables).await
    }

    /// The same in a terminal of its own, which [`close_terminal`](Self::close_terminal) closes.
    pub async fn in_terminal(arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut python = Command::new("/usr/bin/python3");
        python.args(["-c", TERMINAL, PROGRAM]);
        Self::by(python, Path::new("."), arguments, variables).await
    }

    /// Ends what holds the terminal open.
    pub fn close_terminal(&self) {
        kill_process(self.pid(), Signal::KILL).expect("running");
    }

    async fn by(
        mut command: Command,
        directory: &Path,
        arguments: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let state = tempfile::tempdir().expect("a directory");
        // A directory that the arguments name is that of a file.
        let variables = if arguments.contains(&"--state") {
            variables.iter().map(|(name, value)| ((*name).to_owned(), value.into())).collect()
        } else {
            state::variables(variables.iter().copied(), state.path())
        };
        let mut child = command
            .args(["serve", "--listen", "127.0.0.1:0", "--log", "json", "--diagnostics"])
            .args(arguments)
            .envs(variables)
            .current_dir(directory)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("piped")).lines();
        let address = address(&mut stdout).await;
        let asks_for_http = arguments.iter().any(|it| it.starts_with("--http"));
        let http = if asks_for_http { Some(self::address(&mut stdout).await) } else { None };
        let admin =
            if arguments.contains(&"--admin") { Some(self::address(&mut stdout).await) } else { None };
        let log = BufReader::new(child.stderr.take().expect("piped")).lines();
        Self { child, address, http, admin, log, _state: state }
    }

    pub async fn channel(&self) -> Channel {
        let endpoint = Endpoint::from_shared(format!("http://{}", self.address)).expect("an address");
        endpoint.connect().await.expect("connects")
    }

    /// The log line of the next call of the given tool.
    pub async fn line(&mut self, tool: &str) -> Value {
        loop {
            let text = self.log.next_line().await.expect("readable").expect("a line");
            let line: Value = serde_json::from_str(&text).expect("JSON");
            if line["target"] == "toolwire::call" && line["tool_name"] == tool {
                return line;
            }
        }
    }

    /// The next line of the log.
    pub async fn next_line(&mut self) -> Value {
        let text = self.log.next_line().await.expect("readable").expect("a line");
        serde_json::from_str(&text).expect("JSON")
    }

    /// The next line of the log that says this, and the lines before it.
    pub async fn wait_for_log(&mut self, message: &str) -> (Value, Vec<Value>) {
        let mut before = Vec::new();
        loop {
            let line = self.next_line().await;
            if line["message"].as_str().is_some_and(|it| it.contains(message)) {
                return (line, before);
            }
            before.push(line);
        }
    }

    /// Its process.
    pub fn pid(&self) -> Pid {
        let id = self.child.id().expect("running").try_into().expect("a process");
        Pid::from_raw(id).expect("a process")
    }

    /// Waits until it has ended by itself: how, and what is left of its log.
    pub async fn wait_end(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().await.expect("running");
        (status, self.rest().await)
    }

    /// The most memory it has held so far, in KiB.
    pub fn peak_memory_kib(&self) -> u64 {
        let id = self.child.id().expect("running");
        let status = fs::read_to_string(format!("/proc/{id}/status")).expect("readable");
        let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
        line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).expect("a number")
    }

    /// Ends it by SIGTERM, at once, and returns what is left of its log, which is whole.
    pub async fn stop(mut self) -> String {
        let end = |program: &Self| kill_process(program.pid(), Signal::TERM).expect("running");
        end(&self);
        let mut text = String::new();
        while let Some(line) = self.log.next_line().await.expect("readable") {
            // The second signal ends it without waiting for connections.
            if line.contains("\"draining") {
                end(&self);
            }
            text.push_str(&line);
            text.push('\n');
        }
        self.child.wait().await.expect("running");
        text
    }

    /// Ends it by SIGKILL and returns what is left of its log, of which the last lines may not have been written.
    pub async fn kill(mut self) -> String {
        self.child.kill().await.expect("running");
        self.rest().await
    }

    async fn rest(&mut self) -> String {
        let mut text = String::new();
        while let Some(line) = self.log.next_line().await.expect("readable") {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }
}

/// The address at the end of the next line.
async fn address(stdout: &mut Lines<BufReader<ChildStdout>>) -> SocketAddr {
    let line = stdout.next_line().await.expect("readable").expect("an address");
    line.rsplit(' ').next().and_then(|text| text.parse().ok()).expect("an address")
}
