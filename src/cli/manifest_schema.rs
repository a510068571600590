//! `toolwire manifest-schema`: the JSON Schema of manifests, for editors.

use crate::{
    console::{self, Failure},
    registry,
};

pub(super) fn run() -> Result<(), Failure> {
    console::print(&format!("{:#}", registry::manifest_schema()))
}
