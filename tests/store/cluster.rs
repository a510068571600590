//! A PostgreSQL server of one test, which can be stopped, paused, started again and copied to a standby. Its programs
//! are those that `.ci/postgres.sh` names.

use std::{
    fs::{self, Permissions},
    net::TcpListener,
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use toolwire::db::Address;

/// The user and the group that run it where tests run as root, which it refuses: `nobody`.
const NOBODY: u32 = 65534;

/// A server, which ends when it is dropped.
pub(super) struct Cluster {
    directory: TempDir,
    programs: PathBuf,
    port: u16,
    server: Option<Child>,
}

impl Cluster {
    /// Starts a server that accepts at most `connections` connections. Returns `None` if `TOOLWIRE_TEST_POSTGRES_BIN`
    /// is not set.
    pub(super) fn start(connections: u32) -> Option<Self> {
        let programs = PathBuf::from(std::env::var_os("TOOLWIRE_TEST_POSTGRES_BIN")?);
        let mut cluster = Self::new(programs);
        let port = cluster.port;
        let made = cluster
            .program("initdb")
            .args(["-U", "toolwire", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"])
            .status();
        assert!(made.unwrap().success(), "initdb");
        let settings = format!(
            "listen_addresses = '127.0.0.1'\nport = {port}\nunix_socket_directories = ''\nfsync = off\n\
             max_connections = {connections}\nsuperuser_reserved_connections = 0\n"
        );
        cluster.set(&settings);
        cluster.start_again();
        Some(cluster)
    }

    fn new(programs: PathBuf) -> Self {
        let directory = tempfile::tempdir().unwrap();
        if directory.path().metadata().unwrap().uid() == 0 {
            chown(directory.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        Self { directory, programs, port, server: None }
    }

    /// Starts a standby of it, which has what it has, and receives what it writes.
    pub(super) fn standby(&self) -> Self {
        let mut standby = Self::new(self.programs.clone());
        let primary = ["-h", "127.0.0.1", "-U", "toolwire", "-p", &self.port.to_string()].map(str::to_owned);
        let copy = ["-R", "-X", "stream", "-c", "fast", "--no-sync"];
        let copied = standby.program("pg_basebackup").args(primary).args(copy).status();
        assert!(copied.unwrap().success(), "pg_basebackup");
        standby.set(&format!("port = {}\n", standby.port));
        standby.start_again();
        standby
    }

    /// Makes a standby a primary, which can be written when this returns.
    pub(super) fn promote(&self) {
        assert!(self.program("pg_ctl").args(["promote", "-w"]).status().unwrap().success(), "promote");
    }

    /// Adds settings, which hold from the next start.
    pub(super) fn set(&self, settings: &str) {
        let file = self.data().join("postgresql.auto.conf");
        fs::write(&file, fs::read_to_string(&file).unwrap() + settings).unwrap();
    }

    /// Puts a file beside its data, which only it may read.
    pub(super) fn put(&self, name: &str, content: &[u8]) {
        let file = self.data().join(name);
        fs::write(&file, content).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        let owner = self.directory.path().metadata().unwrap();
        chown(&file, Some(owner.uid()), Some(owner.gid())).unwrap();
    }

    pub(super) fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn url(&self) -> String {
        format!("postgres://toolwire@127.0.0.1:{}/postgres", self.port)
    }

    pub(super) fn address(&self) -> Address {
        Address::new(&self.url(), "toolwire").unwrap()
    }

    /// Starts it, and waits until it accepts connections.
    pub(super) fn start_again(&mut self) {
        self.server = Some(self.program("postgres").spawn().unwrap());
        let file = self.data().join("postmaster.pid");
        // Its last line says how far it is.
        while !fs::read_to_string(&file).is_ok_and(|text| text.contains("ready")) {
            assert!(self.server.as_mut().unwrap().try_wait().unwrap().is_none(), "it ended");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Ends all connections at once, as a crash does.
    pub(super) fn stop(&mut self) {
        if let Some(mut server) = self.server.take() {
            kill_process(Pid::from_child(&server), Signal::QUIT).unwrap();
            server.wait().unwrap();
        }
    }

    /// Stops every process of it, so that connections stay open and nothing answers.
    pub(super) fn pause(&self) {
        self.signal(Signal::STOP);
    }

    pub(super) fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let server = Pid::from_child(self.server.as_ref().unwrap());
        kill_process(server, signal).unwrap();
        let id = server.as_raw_nonzero();
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
        for child in children.split_whitespace().filter_map(|it| Pid::from_raw(it.parse().unwrap())) {
            // It may have ended.
            let _ = kill_process(child, signal);
        }
    }

    /// One of its programs, with its data.
    fn program(&self, name: &str) -> Command {
        let program = self.programs.join(name);
        let mut command = if self.directory.path().metadata().unwrap().uid() == NOBODY {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.arg("-D").arg(self.data()).current_dir(self.directory.path());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.server.is_some() {
            self.go_on();
            self.stop();
        }
    }
}
