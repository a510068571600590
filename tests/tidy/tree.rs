//! The files that the rules read, parsed where a rule asks for it. Not here: what the names in them mean (`names.rs`).

use std::{
    cell::OnceCell,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
};

use crate::syntax;

/// The folder of the root package.
const ROOT_PACKAGE: &str = "src/";

/// Folders that builds of examples leave.
const BUILT: [&str; 2] = ["node_modules", "target"];

/// The files of the repository that rules read.
pub(crate) struct Tree {
    /// The Rust files, in the order of their paths.
    pub(crate) files: Vec<File>,
    /// The others, in the order of their paths: data of crates, lexicons and manifests.
    pub(crate) data: Vec<File>,
    /// What people read, in the order of their paths: pages, contracts, dashboards.
    pub(crate) pages: Vec<File>,
    /// The manifests of the crates below `src/`, in the order of their paths.
    pub(crate) manifests: Vec<File>,
}

/// One file.
pub(crate) struct File {
    /// From the root of the repository, with `/`.
    pub(crate) path: String,
    /// As it stands.
    pub(crate) text: String,
    parsed: OnceCell<syn::File>,
}

impl Tree {
    /// A tree of paths and texts, to try the rules on.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        Self::new(files.iter().map(|(path, text)| File::new((*path).to_owned(), (*text).to_owned())))
    }

    /// `build.rs`, the pages beside it, and the folders below, of this repository.
    pub(crate) fn of_the_repository() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut paths = ["build.rs", "CONTRIBUTING.md", "README.md"].map(|file| root.join(file)).to_vec();
        for folder in ["data", "docs", "examples", "proto", "sdk", "src", "tests"] {
            collect(&root.join(folder), &mut paths);
        }
        paths.sort();
        Self::new(paths.iter().map(|path| read(root, path)))
    }

    fn new(files: impl Iterator<Item = File>) -> Self {
        let (mut rust, mut data, mut pages, mut manifests) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for file in files {
            match Path::new(&file.path).extension().and_then(OsStr::to_str) {
                _ if file.path.ends_with("/Cargo.toml") => manifests.push(file),
                Some("rs") => rust.push(file),
                Some("md" | "proto") => pages.push(file),
                _ if file.path.starts_with("examples/") => pages.push(file),
                _ => data.push(file),
            }
        }
        Self { files: rust, data, pages, manifests }
    }

    /// The folders of crates, such as `src/state/`.
    pub(crate) fn crates(&self) -> Vec<&str> {
        self.sources().filter_map(|file| file.path.strip_suffix("lib.rs")).collect()
    }

    /// The files of all crates.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.below_src().is_some())
    }

    /// The modules that are compiled for tests only, those in files of their own.
    pub(crate) fn test_modules(&self) -> Vec<Vec<String>> {
        let declared = self.sources().flat_map(|file| {
            syntax::test_module_files(file.syntax()).map(|name| [file.module(), vec![name]].concat())
        });
        declared.collect()
    }
}

impl File {
    fn new(path: String, text: String) -> Self {
        Self { path, text, parsed: OnceCell::new() }
    }

    /// What it parses to.
    pub(crate) fn syntax(&self) -> &syn::File {
        let parse = || syn::parse_file(&self.text).unwrap_or_else(|error| panic!("{}: {error}", self.path));
        self.parsed.get_or_init(parse)
    }

    /// The path below `src/`, if it is there.
    pub(crate) fn below_src(&self) -> Option<&str> {
        self.path.strip_prefix("src/")
    }

    /// The path of its module below `src/`, the folders of its crate first: empty for `src/lib.rs`.
    pub(crate) fn module(&self) -> Vec<String> {
        let path = self.below_src().unwrap_or(&self.path);
        let segments = path.trim_end_matches(".rs").split('/').filter(|segment| *segment != "lib");
        segments.map(str::to_owned).collect()
    }

    /// Whether it belongs to the crate whose folder this is, such as `src/state/`.
    pub(crate) fn is_of(&self, folder: &str) -> bool {
        match self.path.strip_prefix(folder) {
            // The root package has no folders: those below `src/` are other crates.
            Some(below) => folder != ROOT_PACKAGE || !below.contains('/'),
            None => false,
        }
    }
}

fn collect(directory: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("readable") {
        let entry = entry.expect("readable");
        // A link to a folder is not followed: what a domain's crate links to is read where it is.
        if entry.file_type().expect("readable").is_dir() {
            if BUILT.iter().any(|name| entry.file_name() == *name) {
                continue;
            }
            collect(&entry.path(), paths);
        } else if is_read(&entry.path()) {
            paths.push(entry.path());
        }
    }
}

/// Whether a rule reads the file: Rust, data of a crate, a lexicon or a manifest, a page, a contract, a dashboard, or
/// what Cargo reads of a crate.
fn is_read(path: &Path) -> bool {
    let is_dashboard = || path.parent().is_some_and(|folder| folder.ends_with("grafana"));
    let is_manifest = || path.parent().is_some_and(|folder| folder.ends_with("data/tools"));
    let is_of_a_crate =
        || path.strip_prefix(env!("CARGO_MANIFEST_DIR")).is_ok_and(|it| it.starts_with("src"));
    match path.extension().and_then(OsStr::to_str) {
        Some("md" | "proto" | "rs") => true,
        Some("toml") => !path.ends_with("Cargo.toml") || is_of_a_crate(),
        Some("json") => path.ends_with("lexicon.json") || is_manifest() || is_dashboard(),
        _ => false,
    }
}

fn read(root: &Path, path: &Path) -> File {
    let name = path.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
    File::new(name, fs::read_to_string(path).expect("readable"))
}
