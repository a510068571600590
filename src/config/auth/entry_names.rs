//! The names of entries, also of those that cannot be used: a setting that refers to one of these is no further
//! mistake.

#[derive(Debug, Default)]
pub(crate) struct EntryNames {
    names: Vec<String>,
    /// Whether there is an entry without a name.
    has_nameless: bool,
}

impl EntryNames {
    pub(super) fn add(&mut self, name: Option<String>) {
        self.has_nameless |= name.is_none();
        self.names.extend(name);
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.has_nameless || self.names.iter().any(|it| it == name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}
