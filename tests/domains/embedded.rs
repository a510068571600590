//! The data of the bundled domains, against the folder they are embedded from.

use std::{collections::BTreeSet, fs, path::Path};

use toolwire::{base::files::Embedded, domains::bundled};

/// The paths of all files below a directory.
fn on_disk(directory: &Path, path: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let path = format!("{path}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            on_disk(&entry.path(), &format!("{path}/"), found);
        } else {
            found.insert(path);
        }
    }
}

#[test]
fn every_file_of_the_data_directory_is_embedded_by_one_domain() {
    let domains = bundled();
    let all = Embedded::of_all(domains.iter().map(|domain| (domain.name, &domain.data))).unwrap();
    let embedded: BTreeSet<_> = all.paths().map(str::to_owned).collect();
    let mut files = BTreeSet::new();
    on_disk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data"), "", &mut files);
    // The agent embeds what models are asked with, and examples/mcp_conformance its own tools.
    files.retain(|path| !["prompts/", "conformance/"].iter().any(|folder| path.starts_with(folder)));
    // Cargo sees changed files, but not new ones: `touch` the file that embeds the folder.
    let missing: Vec<_> = files.symmetric_difference(&embedded).collect();
    assert!(missing.is_empty(), "on disk or embedded, but not both: {missing:?}");
}
