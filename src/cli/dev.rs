//! `toolwire dev`: serves a Python program and its edits. How is the SDK's affair, `toolwire._reload`.

use std::{
    env,
    ffi::OsString,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
};

use clap::Args;

use toolwire_server::console::Failure;

/// Names the server to an SDK that was not installed with one.
const BINARY: &str = "TOOLWIRE_BINARY";

/// Serves the tools of a Python program, and each edit of it at once
///
/// Calls under way end in the code that they began in. An edit that does not serve, such as one with a syntax error, is
/// shown, and what was served before is served on. The program calls serve() of the Python SDK.
#[derive(Debug, Args)]
pub(super) struct Dev {
    /// Runs the program [default: the Python of the active virtual environment, else python3]
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// The program, or -m MODULE, and its arguments
    #[arg(value_name = "FILE", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    program: Vec<OsString>,
}

impl Dev {
    /// Becomes the process that serves the program. Returns only where that cannot be started.
    pub(super) fn run(self) -> Result<(), Failure> {
        let active = || Some(Path::new(&env::var_os("VIRTUAL_ENV")?).join("bin/python"));
        let python = self.python.or_else(active).unwrap_or_else(|| "python3".into());
        let mut command = Command::new(&python);
        command.args(["-m", "toolwire._reload"]).args(self.program);
        if env::var_os(BINARY).is_none()
            && let Ok(binary) = env::current_exe()
        {
            command.env(BINARY, binary);
        }
        let error = command.exec();
        Err(Failure::Failed(format!("cannot run {}: {error}. --python names another one", python.display())))
    }
}
