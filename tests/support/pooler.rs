//! A `PgBouncer` of one test, in transaction mode, before the database of `TOOLWIRE_TEST_STATE`. Its program is the one
//! that `.ci/postgres.sh` names.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{
    fs,
    net::{TcpListener, TcpStream},
    os::unix::fs::{MetadataExt, chown},
    path::Path,
    process::{Child, Command, Stdio},
    str::FromStr,
    thread,
    time::Duration,
};

use sqlx::postgres::PgConnectOptions;
use tempfile::TempDir;
use toolwire::db::Address;

use super::state;

/// The user and the group that run it where tests run as root, which it refuses: `nobody`.
const NOBODY: u32 = 65534;

/// A pooler, which ends when it is dropped.
pub struct Pooler {
    directory: TempDir,
    port: u16,
    server: Child,
}

impl Pooler {
    /// Starts a pooler with lines of its configuration. Few connections to the server, so that clients share them.
    /// Returns `None` if the tests run without PostgreSQL.
    pub fn start(lines: &str) -> Option<Self> {
        let server = PgConnectOptions::from_str(&state::url()?).unwrap();
        let directory = tempfile::tempdir().unwrap();
        if directory.path().metadata().unwrap().uid() == 0 {
            chown(directory.path(), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (host, at, user) = (server.get_host(), server.get_port(), server.get_username());
        let settings = format!(
            "[databases]\n* = host={host} port={at} user={user}\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
             listen_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\n\
             default_pool_size = 3\n{lines}\n"
        );
        fs::write(directory.path().join("pgbouncer.ini"), settings).unwrap();
        let server = spawn(directory.path(), port);
        Some(Self { directory, port, server })
    }

    /// Ends it and all its connections, and starts it again.
    pub fn restart(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
        self.server = spawn(self.directory.path(), self.port);
    }

    pub fn url(&self, database: &str) -> String {
        format!("postgres://toolwire@127.0.0.1:{}/{database}", self.port)
    }

    /// The state of a directory, whose transactions go through it.
    pub fn address(&self, directory: &Path) -> Address {
        let address = state::address(directory).expect("there is a pooler before it");
        address.behind_pooler(&self.url("postgres")).unwrap()
    }
}

fn spawn(directory: &Path, port: u16) -> Child {
    let program =
        std::env::var_os("TOOLWIRE_TEST_PGBOUNCER").expect("TOOLWIRE_TEST_PGBOUNCER names pgbouncer");
    let mut command = if directory.metadata().unwrap().uid() == NOBODY {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(program);
        command
    } else {
        Command::new(program)
    };
    command.arg("pgbouncer.ini").current_dir(directory).stdout(Stdio::null()).stderr(Stdio::null());
    let mut server = command.spawn().unwrap();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(server.try_wait().unwrap().is_none(), "it ended");
        thread::sleep(Duration::from_millis(5));
    }
    server
}

impl Drop for Pooler {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
