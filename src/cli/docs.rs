//! `toolwire docs`: the tools as markdown, from their definitions.

use std::{fs, io, path::PathBuf};

use clap::Args;

use super::{settings::Settings, wiring};
use toolwire_server::{
    console::{
        self, Failure,
        files::{self, Existing},
    },
    domain::Domain,
};

/// Writes docs/TOOLS.md from the manifests
#[derive(Debug, Args)]
pub(super) struct Docs {
    /// Writes nothing; fails if the file is not what would be written
    #[arg(long)]
    check: bool,
    /// The file to write or to check
    #[arg(long, value_name = "FILE", default_value = "docs/TOOLS.md")]
    output: PathBuf,
    #[command(flatten)]
    settings: Settings,
}

impl Docs {
    pub(super) fn run(self, domains: &[Domain]) -> Result<(), Failure> {
        let config = self.settings.load(domains)?.config;
        let app = wiring::open(&config, domains)?;
        let text = wiring::render_docs(&app);
        if self.check {
            return self.compare(&text);
        }
        files::write(&self.output, &text, Existing::Replace)?;
        console::say(&format!("wrote {}", self.output.display()));
        Ok(())
    }

    fn compare(&self, text: &str) -> Result<(), Failure> {
        let file = self.output.display();
        let found = match fs::read_to_string(&self.output) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            read => read.map_err(|error| Failure::Failed(format!("cannot read {file}: {error}")))?,
        };
        if found == text {
            return Ok(());
        }
        let line = found.lines().zip(text.lines()).take_while(|(one, other)| one == other).count() + 1;
        Err(Failure::Failed(format!(
            "{file} is stale from line {line} on. Write it again with `toolwire docs`"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_file_is_told_with_its_line() {
        let directory = tempfile::tempdir().unwrap();
        let docs = Docs { check: true, output: directory.path().join("T.md"), settings: Settings::default() };
        assert!(docs.compare("a\n").unwrap_err().to_string().contains("`toolwire docs`"));
        fs::write(&docs.output, "a\nb\n").unwrap();
        assert!(docs.compare("a\nb\n").is_ok());
        assert!(docs.compare("a\nc\n").unwrap_err().to_string().contains("stale from line 2 on"));
    }
}
