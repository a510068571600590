//! Where each setting comes from, so that a wrong one is found and a printed one explained.

use std::{collections::BTreeMap, fmt};

use figment::{Figment, Source};

use super::{
    Problem,
    layer::{ENVIRONMENT, FLAGS},
    setting::{self, Setting},
};

/// Where a setting comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// Nobody said anything.
    #[default]
    Default,
    /// The file.
    File(String),
    /// The environment variable.
    Variable(&'static str),
    /// The flag.
    Flag(&'static str),
}

/// Where the settings come from.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    settings: BTreeMap<&'static str, Origin>,
    file: Option<String>,
}

impl Origins {
    pub(super) fn of(figment: &Figment, file: Option<String>) -> Self {
        let settings = setting::all().map(|setting| (setting.key, origin(figment, setting))).collect();
        Self { settings, file }
    }

    /// Where the setting of a key comes from. What is no setting stands in the file.
    pub fn origin(&self, key: &str) -> Origin {
        let in_file = || self.file.clone().map(Origin::File).unwrap_or_default();
        self.settings.get(key).cloned().unwrap_or_else(in_file)
    }

    /// The problem of a key, found where it was said.
    pub(super) fn locate(&self, problem: Problem) -> Problem {
        let at = match self.origin(&problem.at) {
            Origin::Default => problem.at,
            Origin::File(file) => format!("{file}: {}", problem.at),
            Origin::Variable(name) => format!("variable {name}"),
            Origin::Flag(flag) => format!("flag {flag}"),
        };
        Problem { at, ..problem }
    }
}

fn origin(figment: &Figment, setting: &Setting) -> Origin {
    let Some(metadata) = figment.find_metadata(setting.key) else { return Origin::Default };
    match (metadata.name.as_ref(), &metadata.source) {
        (FLAGS, _) => Origin::Flag(setting.flag.unwrap_or(setting.key)),
        (ENVIRONMENT, _) => Origin::Variable(setting.variable),
        (_, Some(Source::File(path))) => Origin::File(path.display().to_string()),
        _ => Origin::Default,
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(file) => f.write_str(file),
            Self::Variable(name) | Self::Flag(name) => f.write_str(name),
        }
    }
}
