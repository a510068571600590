//! The files that the embedded sources answer with, as they are in `data/research/`.

use include_dir::{Dir, include_dir};

use toolwire_base::files::Embedded;

/// All of them, without manifests.
pub fn files() -> Embedded {
    static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/data/research");
    Embedded::folder("research", &FILES)
}
