//! Links from page to page: the file that one names is there, and so is the heading. A page below `docs/` that code or
//! data name is there too, and `docs/README.md` leads to each page beside it. Not here: addresses of other sites.

use std::{
    collections::BTreeSet,
    path::{Component, Path, PathBuf},
};

use crate::{
    findings::Finding,
    tree::{File, Tree},
};

/// The page that lists the others.
const INDEX: &str = "docs/README.md";

/// This rule and what tries it.
const OF_THE_RULE: &str = "tests/tidy/";

/// What leads nowhere.
pub(crate) fn broken(tree: &Tree) -> Vec<Finding> {
    let (pages, contracts): (Vec<_>, Vec<_>) = tree.pages.iter().partition(|file| is_page(&file.path));
    // Crates embed pages by links to them.
    let pages = pages.into_iter().filter(|page| page.below_src().is_none());
    let links = pages.flat_map(|page| links(page).map(move |link| (page, link)));
    let others = tree.files.iter().chain(&tree.data).chain(contracts);
    let others = others.filter(|file| !file.path.starts_with(OF_THE_RULE));
    let names = others.flat_map(|file| names(&file.text).map(move |name| (file, name)));
    let broken = links.chain(names).filter(|(_, target)| !leads_somewhere(tree, target));
    broken.map(|(file, target)| Finding::new(&file.path, &format!("{target} is not there"))).collect()
}

/// The pages beside the index that it does not name.
pub(crate) fn not_in_the_index(tree: &Tree) -> Vec<Finding> {
    let index = tree.pages.iter().find(|page| page.path == INDEX);
    let named = index.into_iter().flat_map(links).collect::<BTreeSet<_>>();
    let pages =
        tree.pages.iter().map(|page| page.path.as_str()).filter(|path| is_page(path) && *path != INDEX);
    let beside = pages.filter(|path| path.starts_with("docs/"));
    let missing = beside.filter(|path| !named.iter().any(|link| without_heading(link) == *path));
    missing.map(|path| Finding::new(path, &format!("{INDEX} does not name it"))).collect()
}

/// The targets of a page's links, from the root of the repository.
fn links(page: &File) -> impl Iterator<Item = String> {
    let is_ours = |link: &&str| !link.contains(':');
    prose(&page.text)
        .flat_map(|line| line.split("](").skip(1))
        .filter_map(|rest| rest.split(')').next())
        .filter(is_ours)
        .map(move |link| target(&page.path, link))
}

/// What a link in this page leads to, from the root.
fn target(page: &str, link: &str) -> String {
    if link.starts_with('#') {
        return format!("{page}{link}");
    }
    let mut below = PathBuf::new();
    for part in Path::new(page).with_file_name(link).components() {
        match part {
            Component::ParentDir => _ = below.pop(),
            other => below.push(other),
        }
    }
    below.to_string_lossy().into_owned()
}

/// The pages that a text names from the root: `docs/HTTP.md`, `docs/HTTP.md#jobs`.
fn names(text: &str) -> impl Iterator<Item = String> {
    let ends = |it: char| !it.is_ascii_alphanumeric() && !"/_-.#".contains(it);
    let named = text.match_indices("docs/").filter_map(move |(at, _)| text[at..].split(ends).next());
    named.filter(|name| name.contains(".md")).map(|name| name.trim_end_matches('.').to_owned())
}

/// Whether the file is there, and the heading if one is named.
fn leads_somewhere(tree: &Tree, target: &str) -> bool {
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    match tree.pages.iter().find(|page| page.path == path) {
        Some(page) => heading.is_empty() || prose(&page.text).filter_map(anchor).any(|it| it == heading),
        None if is_page(path) => false,
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join(path).exists(),
    }
}

fn without_heading(link: &str) -> &str {
    link.split('#').next().unwrap_or_default()
}

fn is_page(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|it| it == "md")
}

/// The lines of a page outside its blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// What a link to the heading in this line ends with.
fn anchor(line: &str) -> Option<String> {
    let title = line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' ')?.to_lowercase();
    let kept = title.chars().filter(|it| it.is_alphanumeric() || " -_".contains(*it));
    Some(kept.map(|it| if it == ' ' { '-' } else { it }).collect())
}
