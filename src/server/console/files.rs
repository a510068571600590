//! Files that commands write: whole or not at all.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    process,
};

use super::failure::Failure;

/// The treatment of an existing file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    Replace,
    /// It is kept, and nothing is written.
    Keep,
}

/// Writes a file atomically: a concurrent reader sees the old one or the new one.
pub fn write(path: &Path, text: &str, existing: Existing) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        let advice = "Name another with --output";
        Failure::Failed(format!("cannot write {}: {error}. {advice}", path.display()))
    };
    match existing {
        Existing::Keep => match create_new(path, text) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(is_there(path)),
            done => done.map_err(failed),
        },
        Existing::Replace => replace(path, text).map_err(failed),
    }
}

fn create_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(text.as_bytes())
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let draft = draft_of(path);
    create_new(&draft, text).and_then(|()| fs::rename(&draft, path)).inspect_err(|_| {
        let _ = fs::remove_file(&draft);
    })
}

/// Hidden, in the same directory: a rename there replaces at once.
fn draft_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}", process::id()))
}

fn is_there(path: &Path) -> Failure {
    Failure::Failed(format!("{} is there already. Replace it with --force, or name another", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_only_when_asked_to() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.json");
        write(&path, "one", Existing::Keep).unwrap();
        let error = write(&path, "two", Existing::Keep).unwrap_err();
        assert!(error.to_string().contains("--force"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        write(&path, "two", Existing::Replace).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_replacement_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("taken");
        fs::create_dir(&path).unwrap();
        assert!(write(&path, "x", Existing::Replace).is_err());
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
    }
}
