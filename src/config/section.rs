//! A section: the settings of one part of the program, declared and read in one go.
//!
//! The sections of the platform and those of domains have the same form. Each is read from the file, the environment
//! and the flags, is printed, and is refused where it is mistyped, by the same code.

use std::{fmt, sync::Arc};

use super::{parts::Part, reader::Reader};

/// The settings of one part of the program, and the domain that owns them.
#[derive(Clone)]
pub struct Section {
    owner: String,
    read: Arc<ReadFn>,
}

/// Reads the value of a section.
type ReadFn = dyn Fn(&mut Reader) -> Arc<dyn Part> + Send + Sync;

impl Section {
    /// A section that is read as a value of one type. `read` reports problems to the reader and returns a value in any
    /// case, so that all problems are found.
    pub fn new<T: Part>(read: impl Fn(&mut Reader) -> T + Send + Sync + 'static) -> Self {
        Self { owner: String::new(), read: Arc::new(move |reader| Arc::new(read(reader))) }
    }

    /// The same section, owned by the domain of this name.
    #[must_use]
    pub fn of(self, owner: &str) -> Self {
        Self { owner: owner.to_owned(), ..self }
    }

    pub(super) fn read(&self, reader: &mut Reader) -> Arc<dyn Part> {
        reader.on_behalf_of(&self.owner);
        (self.read)(reader)
    }
}

impl fmt::Debug for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Section").field("owner", &self.owner).finish_non_exhaustive()
    }
}
