//! Debounces changes of files, which are written in parts: content counts as changed once it was the same in two
//! consecutive looks. Files whose stamps show that nothing was written since are not read.

use std::{
    mem,
    path::Path,
    time::{Duration, SystemTime},
};

use crate::{clock, digest::Digest, files::FileStamp};

/// The age from which on a stamp is trusted: a later write has another time, however coarse the times of a file system
/// are.
const SETTLES_AFTER: Duration = Duration::from_secs(2);

/// Digests of some content: at the last look, and at the last attempt to use it.
#[derive(Debug)]
pub struct Debounce {
    last: Digest,
    tried: Option<Digest>,
    /// The stamps of the files as of the last look; empty unless each can be trusted.
    stamps: Vec<FileStamp>,
}

impl Debounce {
    /// Begins with content that is in use.
    pub fn new(used: Digest) -> Self {
        Self { last: used, tried: Some(used), stamps: Vec::new() }
    }

    /// Whether the content of files is to be tried that a look finds now. `read` is called only if it may be another
    /// one than before.
    pub fn is_due_of<'a>(
        &mut self,
        files: impl Iterator<Item = &'a Path> + Clone,
        read: impl FnOnce() -> Digest,
    ) -> bool {
        self.is_due_at(clock::wall(), files, read)
    }

    fn is_due_at<'a>(
        &mut self,
        now: SystemTime,
        files: impl Iterator<Item = &'a Path> + Clone,
        read: impl FnOnce() -> Digest,
    ) -> bool {
        let is_settled = self.tried == Some(self.last) && !self.stamps.is_empty();
        let mut stamps = files.clone().map(FileStamp::of_file);
        if is_settled && self.stamps.iter().all(|before| stamps.next().flatten() == Some(*before)) {
            return false;
        }
        // Before the content: what is written in between has another stamp at the next look.
        let is_old = |stamp: &FileStamp| stamp.age(now).is_some_and(|age| age >= SETTLES_AFTER);
        let stamps = files.map(|file| FileStamp::of_file(file).filter(is_old));
        self.stamps = stamps.collect::<Option<_>>().unwrap_or_default();
        self.is_due(read())
    }

    /// Whether content is to be tried that a look finds now: it is unchanged since the last look and was not tried
    /// yet. It then counts as tried.
    pub fn is_due(&mut self, now: Digest) -> bool {
        let is_settled = mem::replace(&mut self.last, now) == now;
        is_settled && self.tried.replace(now) != Some(now)
    }

    /// Lets the same content be tried again: what it refers to may have changed.
    pub fn try_again(&mut self) {
        self.tried = None;
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, fs};

    use super::*;

    #[test]
    fn content_is_due_once_and_only_after_it_has_settled() {
        let [first, half, second] = ["first", "half", "second"].map(|text| Digest::of_bytes(text.as_bytes()));
        let mut debounce = Debounce::new(first);
        let looks = [first, half, second, second, second, first, first].map(|now| debounce.is_due(now));
        assert_eq!(looks, [false, false, false, true, false, false, true]);
        debounce.try_again();
        assert_eq!([first, first].map(|now| debounce.is_due(now)), [true, false]);
        debounce.try_again();
        assert_eq!([half, first, first].map(|now| debounce.is_due(now)), [false, false, true]);
    }

    #[test]
    fn files_are_read_again_only_if_their_stamps_can_have_changed() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a", "b"].map(|name| folder.path().join(name));
        let write = |index: usize, text: &str| fs::write(&paths[index], text).unwrap();
        let digest = || Digest::of_parts(paths.iter().map(|path| fs::read(path).unwrap_or_default()));
        for index in [0, 1] {
            write(index, "first");
        }
        let (reads, mut debounce) = (Cell::new(0), Debounce::new(digest()));
        let mut look = |later: u64| {
            let read = || {
                reads.set(reads.get() + 1);
                digest()
            };
            let now = clock::wall() + Duration::from_secs(later);
            (debounce.is_due_at(now, paths.iter().map(AsRef::as_ref), read), reads.replace(0))
        };
        // Just written: it might be written again within the same tick of the file system's clock.
        assert_eq!([look(0), look(0)], [(false, 1), (false, 1)]);
        assert_eq!([look(60), look(60), look(0)], [(false, 1), (false, 0), (false, 0)]);
        write(1, "another length");
        assert_eq!([look(60), look(60), look(60), look(60)], [(false, 1), (true, 1), (false, 0), (false, 0)]);
        // Another file of the same content.
        let (copy, first) = (folder.path().join("copy"), paths[0].clone());
        fs::write(&copy, "first").unwrap();
        fs::rename(copy, &first).unwrap();
        assert_eq!([look(60), look(60)], [(false, 1), (false, 0)]);
        // One that is missing has no stamp.
        fs::remove_file(first).unwrap();
        assert_eq!([look(60), look(60), look(60)], [(false, 1), (true, 1), (false, 1)]);
    }
}
