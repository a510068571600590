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
        Failure::Failed(format!("cannot write {}: {error}. Name another file", path.display()))
    };
    match existing {
        Existing::Keep => match create_new(path, text) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(is_there(path)),
            done => done.map_err(failed),
        },
        Existing::Replace => replace(path, text).map_err(failed),
    }
}

/// Fails if the file does not have this text, which `again` writes.
pub fn check(path: &Path, text: &str, again: &str) -> Result<(), Failure> {
    let file = path.display();
    let found = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        read => read.map_err(|error| Failure::Failed(format!("cannot read {file}: {error}")))?,
    };
    if found == text.as_bytes() {
        return Ok(());
    }
    let found = String::from_utf8_lossy(&found);
    let line = found.lines().zip(text.lines()).take_while(|(one, other)| one == other).count() + 1;
    Err(Failure::Failed(format!("{file} is stale from line {line} on. Write it again with `{again}`")))
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
    fn a_stale_file_is_told_with_its_line() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("T.md");
        let check = |text| check(&path, text, "toolwire docs").map_err(|error| error.to_string());
        assert!(check("a\n").unwrap_err().contains("`toolwire docs`"));
        fs::write(&path, "a\nb\n").unwrap();
        assert_eq!(check("a\nb\n"), Ok(()));
        assert!(check("a\nc\n").unwrap_err().contains("stale from line 2 on"));
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
