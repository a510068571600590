//! `toolwire generate`: a client in a programming language, with a typed method for each tool.

mod catalogue;
mod python;

use std::{fs, io, path::PathBuf};

use clap::{Args, ValueEnum};

use self::catalogue::Catalogue;
use super::{connection::Connection, settings};
use toolwire_base::words::{counted, shell};
use toolwire_contract::proto::v1;
use toolwire_server::{
    client,
    console::{
        self, Failure,
        files::{self, Existing},
    },
    domain::Domain,
};

/// Writes a typed client of the tools
///
/// A module with a method for each tool that you may call: its parameters and results are typed by the schemas, and its
/// words are those of the tool. The same tools make the same bytes.
#[derive(Debug, Args)]
pub(super) struct Generate {
    /// The language of the client
    #[arg(value_enum)]
    language: Language,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Only tools with this tag; several must all match
    #[arg(long = "tag", visible_alias = "tags", value_name = "TAG", value_delimiter = ',')]
    tags: Vec<String>,
    /// Writes nothing; fails if the file is not what would be written
    #[arg(long, conflicts_with = "force")]
    check: bool,
    /// Replaces a file that this command did not write
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Language {
    /// A module for the package `toolwire`, of Python 3.10 or later
    Python,
}

impl Language {
    fn render(self, catalogue: &Catalogue) -> String {
        match self {
            Self::Python => python::render(catalogue),
        }
    }

    /// How each of its modules begins.
    fn mark(self) -> &'static str {
        match self {
            Self::Python => python::MADE_BY,
        }
    }
}

impl Generate {
    pub(super) async fn run(mut self, domains: &[Domain]) -> Result<(), Failure> {
        self.tags.sort_unstable();
        self.tags.dedup();
        let backend = self.connection.open(domains).await?;
        let definitions = backend.list(&self.tags, "", v1::ToolView::FullJson).await;
        let definitions = definitions.map_err(|status| client::refusal(&status))?;
        if definitions.is_empty() {
            let tags = self.tags.join(", ");
            let what = if tags.is_empty() {
                "no tool may be called".to_owned()
            } else {
                format!("no tool has {tags}")
            };
            return Err(Failure::Failed(format!("{what}: nothing is written")));
        }
        let count = definitions.len();
        let catalogue = Catalogue::read(definitions, self.command()).map_err(Failure::Failed)?;
        let text = self.language.render(&catalogue);
        if self.check {
            let out = shell(&self.out.to_string_lossy());
            return files::check(&self.out, &text, &format!("{} --out {out}", catalogue.command));
        }
        self.write(&text, count)
    }

    /// The command that makes the same text of the same tools.
    fn command(&self) -> String {
        let language =
            self.language.to_possible_value().map_or_else(String::new, |it| it.get_name().to_owned());
        let tags: Vec<_> =
            self.tags.iter().flat_map(|tag| settings::words("tag", Some(tag.clone()))).collect();
        format!("toolwire generate {language}{}", settings::as_flags(&tags))
    }

    fn write(&self, text: &str, count: usize) -> Result<(), Failure> {
        let (file, mark) = (self.out.display(), self.language.mark().as_bytes());
        if !self.force {
            match fs::read(&self.out) {
                Ok(found) if !found.starts_with(mark) => {
                    return Err(Failure::Failed(format!(
                        "{file} was not written by `toolwire generate`. Replace it with --force, or name another"
                    )));
                }
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(Failure::Failed(format!("cannot read {file}: {error}")));
                }
                _ => {}
            }
        }
        files::write(&self.out, text, Existing::Replace)?;
        console::say(&format!("wrote {file}, a client of {}", counted(count, "tool", "tools")));
        Ok(())
    }
}
