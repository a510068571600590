//! A command that a domain adds to the command line.
//!
//! It declares its arguments and does its work. The flags that name a server are not its own: the command line adds
//! them and connects.

use std::fmt;

use clap::{ArgMatches, Args, FromArgMatches};
use futures_util::future::BoxFuture;

use crate::{
    client::Server,
    console::{self, Failure},
};
use toolwire_tool::context::Services;

/// A command of the program. Its name is one that neither the program nor another domain has.
#[derive(Debug)]
pub struct Command {
    /// Its name, help and arguments.
    pub clap: clap::Command,
    /// Its implementation.
    pub run: Run,
    /// What the command line needs to follow the work that it starts: one value a type.
    pub parts: Services,
}

/// The implementation of a command, whose arguments [`Command::clap`] has parsed.
pub enum Run {
    /// Something by itself.
    Alone(Alone),
    /// Something with a server. `--server`, `--token`, `--ca` and `--user` are added to its arguments.
    WithServer(WithServer),
    /// Starts work in the background, at a server or in this program, which is followed to its end. The flags of a
    /// connection, `--json` and `--job` are added to its arguments.
    Starts(StartWork),
}

/// Starts work at a server, or in this program: its name.
pub type StartWork =
    Box<dyn Fn(&ArgMatches, Server) -> BoxFuture<'static, Result<String, Failure>> + Send + Sync>;

/// Does something by itself.
pub type Alone = Box<dyn Fn(&ArgMatches) -> Result<(), Failure> + Send + Sync>;

/// Does something with a server.
pub type WithServer =
    Box<dyn Fn(&ArgMatches, Server) -> BoxFuture<'static, Result<(), Failure>> + Send + Sync>;

impl Command {
    /// A command that does something by itself. Its help is the doc comment of its arguments.
    pub fn alone<A: Args + 'static>(name: &'static str, run: fn(A) -> Result<(), Failure>) -> Self {
        let run = move |matches: &ArgMatches| run(read(matches)?);
        let clap = A::augment_args(clap::Command::new(name));
        Self { clap, run: Run::Alone(Box::new(run)), parts: Services::default() }
    }

    /// A command that does something with a server. Its help is the doc comment of its arguments.
    pub fn with_server<A, F>(name: &'static str, run: fn(A, Server) -> F) -> Self
    where
        A: Args + Send + 'static,
        F: Future<Output = Result<(), Failure>> + Send + 'static,
    {
        let run = move |matches: &ArgMatches, server| {
            let arguments = read(matches);
            let done: BoxFuture<'static, _> = Box::pin(async move { run(arguments?, server).await });
            done
        };
        let clap = A::augment_args(clap::Command::new(name));
        Self { clap, run: Run::WithServer(Box::new(run)), parts: Services::default() }
    }

    /// A command that starts work, which is followed as one of the parts says. Its help is the doc comment of its
    /// arguments.
    pub fn starts<A, F>(name: &'static str, start: fn(A, Server) -> F, parts: Services) -> Self
    where
        A: Args + Send + 'static,
        F: Future<Output = Result<String, Failure>> + Send + 'static,
    {
        let start = move |matches: &ArgMatches, server| {
            let arguments = read(matches);
            let started: BoxFuture<'static, _> = Box::pin(async move { start(arguments?, server).await });
            started
        };
        let clap = A::augment_args(clap::Command::new(name));
        Self { clap, run: Run::Starts(Box::new(start)), parts }
    }

    /// The names that it answers to.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        [self.clap.get_name()].into_iter().chain(self.clap.get_all_aliases())
    }
}

fn read<A: FromArgMatches>(matches: &ArgMatches) -> Result<A, Failure> {
    A::from_arg_matches(matches).map_err(|error| {
        // What is wrong is shown as clap shows it.
        console::usage(&error).err().unwrap_or(Failure::ReportedRefusal)
    })
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Alone(_) => "Alone",
            Self::WithServer(_) => "WithServer",
            Self::Starts(_) => "Starts",
        })
    }
}
