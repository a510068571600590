//! The server as a deployment runs it: with credentials, metrics and the line of each call, and a directory of its own.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::Result;

/// What the load's user shows.
pub const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// What another user shows, where `limits` ends with [`OTHER_USER`].
pub const OTHER_TOKEN: &str = "fedcba9876543210fedcba9876543210";

/// The settings of that user.
pub const OTHER_USER: &str =
    "\n[[auth.users]]\nuser_id = \"other\"\ntoken = \"fedcba9876543210fedcba9876543210\"\n";

/// The user that the bundled data is of.
const USER: &str = "demo";

/// A directory for this measurement. Removed when dropped.
#[derive(Debug)]
pub struct Scratch(PathBuf);

/// How the server is started.
#[derive(Debug)]
pub struct Ours<'a> {
    /// The program.
    pub program: &'a Path,
    /// Where its settings, state and log are.
    pub directory: &'a Path,
    /// Manifests and data, instead of what is built in.
    pub data: Option<&'a Path>,
    /// Lines of `[server.limits]`, and tables that follow them.
    pub limits: &'a str,
}

impl Scratch {
    /// An empty directory.
    pub fn new() -> Result<Self> {
        let path = env::temp_dir().join(format!("toolwire-load-{}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(Self(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A directory in it.
    pub fn directory(&self, name: &str) -> Result<PathBuf> {
        let path = self.0.join(name);
        fs::create_dir_all(&path)?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Ours<'_> {
    /// The command that serves.
    pub fn command(&self) -> Result<Command> {
        let Self { program, directory, data, limits } = self;
        let config = directory.join("toolwire.toml");
        let user = format!("[[auth.users]]\nuser_id = \"{USER}\"\ntoken = \"{TOKEN}\"\n");
        fs::write(&config, format!("[server.limits]\n{limits}\n{user}"))?;
        let log = fs::File::create(self.log())?;
        let mut command = Command::new(program);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--diagnostics"])
            .args(["--log", "json"])
            .arg("--config")
            .arg(&config)
            .arg("--state")
            .arg(directory.join("state"))
            .stderr(Stdio::from(log));
        if let Some(data) = data {
            command.arg("--data").arg(data);
        }
        Ok(command)
    }

    /// Where its log is.
    pub fn log(&self) -> PathBuf {
        self.directory.join("log")
    }
}
