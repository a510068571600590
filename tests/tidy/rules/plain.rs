//! Comments in idiomatic technical English: sentences with a subject, bounds with a number and a unit, and no doc
//! comment that only repeats the name below it.

use std::{collections::BTreeSet, str::FromStr};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::Lit;

use crate::{
    findings::Finding,
    tree::{File, Tree},
};

/// The widest line of a comment.
const WIDEST: usize = 120;

/// Words that begin a sentence without a subject, unless it is a question.
const HEADLESS: [&str; 3] = ["who", "whose", "whom"];

/// Pronouns in place of a caller, a reader, a user.
const VAGUE: [&str; 4] = ["nobody", "whoever", "whomever", "whosever"];

/// What is reported, sent or refused is `told` in no standard text.
const BEFORE_TOLD: [&str; 6] = ["are", "be", "been", "is", "was", "were"];

/// Measures that leave out the number: `so many bytes`.
const MEASURES: [&str; 4] = ["long", "many", "much", "often"];

/// What makes a comparison of `so long` and its kind: `so long as it lives`.
const COMPARES: [&str; 2] = ["as", "that"];

/// Words of a doc comment that add nothing to a name.
const STOP_WORDS: [&str; 22] = [
    "a", "all", "an", "and", "by", "each", "every", "for", "from", "in", "is", "it", "its", "of", "on",
    "one", "that", "the", "this", "these", "to", "with",
];

/// What may stand between a doc comment and the name of its item.
const KEYWORDS: [&str; 14] = [
    "async", "const", "default", "enum", "extern", "fn", "mod", "mut", "pub", "static", "struct", "trait",
    "type", "unsafe",
];

/// Files with sentences that a native reader stumbles over.
pub(crate) fn unidiomatic(tree: &Tree) -> Vec<Finding> {
    let places = |file: &File| {
        let blocks = blocks(file);
        let sentences = blocks.iter().flat_map(|(line, text)| sentences(text).map(move |it| (line, it)));
        let found = sentences.filter_map(|(line, sentence)| Some((line, fault(sentence)?)));
        found.map(|(line, fault)| format!("line {line}: {fault}")).collect::<Vec<_>>()
    };
    tree.sources().filter_map(|file| finding(file, &places(file))).collect()
}

/// Files with doc comments that say nothing but the name of their item.
pub(crate) fn repeated_names(tree: &Tree) -> Vec<Finding> {
    let places = |file: &File| {
        let mut repeated = Vec::new();
        let tokens = TokenStream::from_str(&file.text).expect("parsed by the compiler");
        collect_repeated(tokens, &BTreeSet::new(), &mut repeated);
        repeated
    };
    tree.sources().filter_map(|file| finding(file, &places(file))).collect()
}

/// Files with comments that are too wide.
pub(crate) fn wide_comments(tree: &Tree) -> Vec<Finding> {
    let places = |file: &File| {
        let wide = comments(&file.text).filter(|(_, line)| line.chars().count() > WIDEST);
        wide.map(|(line, _)| format!("line {line} is wider than {WIDEST} columns")).collect::<Vec<_>>()
    };
    tree.files.iter().filter_map(|file| finding(file, &places(file))).collect()
}

/// The findings, with a folder in place of each file of a folder that is not converted yet.
pub(crate) fn by_folder(findings: Vec<Finding>, not_yet: &[&str]) -> Vec<Finding> {
    let folder =
        |what: &str| not_yet.iter().find(|folder| what.starts_with(**folder)).map(|it| (*it).to_owned());
    let of_folder = |it: Finding| Finding { what: folder(&it.what).unwrap_or(it.what), ..it };
    findings.into_iter().map(of_folder).collect()
}

fn finding(file: &File, places: &[String]) -> Option<Finding> {
    (!places.is_empty()).then(|| Finding::new(&file.path, &places.join(", ")))
}

/// The lines that are comments, counted from 1.
fn comments(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate();
    lines.filter(|(_, line)| line.trim_start().starts_with("//")).map(|(index, line)| (index + 1, line))
}

/// Comments as texts, each with its first line: lines that follow one another are one text, since a sentence wraps.
fn blocks(file: &File) -> Vec<(usize, String)> {
    let mut blocks: Vec<(usize, String)> = Vec::new();
    let mut last = 0;
    for (line, comment) in comments(&file.text) {
        let text = comment.trim_start().trim_start_matches(['/', '!']).trim();
        match blocks.last_mut() {
            // A line without text, such as `//!`, ends a paragraph.
            Some((_, block)) if line == last + 1 && !text.is_empty() => *block = format!("{block} {text}"),
            _ => blocks.push((line, text.to_owned())),
        }
        last = if text.is_empty() { 0 } else { line };
    }
    blocks
}

/// The sentences of a text, each with the mark that ends it.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let ends = |(at, c): (usize, char)| {
        let is_end = matches!(c, '.' | '?' | '!') && text[at + 1..].starts_with(' ');
        is_end.then_some(at + 1)
    };
    let mut cuts: Vec<usize> = std::iter::once(0).chain(text.char_indices().filter_map(ends)).collect();
    cuts.push(text.len());
    (1..cuts.len()).map(move |at| text[cuts[at - 1]..cuts[at]].trim())
}

fn fault(sentence: &str) -> Option<String> {
    let words = words(&without_code(sentence));
    let first = words.first()?;
    if HEADLESS.contains(&first.as_str()) && !sentence.ends_with('?') {
        return Some(format!("`{first} …` has no subject: name it, as in `the user who`"));
    }
    if let Some(word) = words.iter().find(|word| VAGUE.contains(&word.as_str())) {
        return Some(format!("`{word}`: name the caller, the reader, the user"));
    }
    let next = |at: usize| words.get(at).map_or("", String::as_str);
    (0..words.len()).find_map(|at| match (next(at), next(at + 1), next(at + 2)) {
        ("so", measure, after) if MEASURES.contains(&measure) && !COMPARES.contains(&after) => {
            Some(format!("`so {measure}`: say the bound, as in `maximum number`"))
        }
        (before, "told", _) if BEFORE_TOLD.contains(&before) => {
            Some(format!("`{before} told`: write reported, sent, notified or refused"))
        }
        _ => None,
    })
}

/// A sentence with one word in place of what stands in backticks, which is code or a quotation.
fn without_code(sentence: &str) -> String {
    sentence.split('`').step_by(2).collect::<Vec<_>>().join(" code ")
}

/// Looks through tokens rather than items, so that what macros are called with is read, too. `outer` has the words of
/// the names around: `A new parser.` above `new` of `Parser` says nothing either.
fn collect_repeated(tokens: TokenStream, outer: &BTreeSet<String>, repeated: &mut Vec<String>) {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let (mut docs, mut names) = (Vec::new(), BTreeSet::new());
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {}
            TokenTree::Group(group) if is_attribute(&tokens, at) => docs.extend(doc_of(group)),
            TokenTree::Group(group)
                if group.delimiter() == Delimiter::Parenthesis && follows_pub(&tokens, at) => {}
            TokenTree::Ident(name) if KEYWORDS.contains(&name.to_string().as_str()) => {}
            TokenTree::Ident(name) => {
                let of_name = words_of_name(&name.to_string());
                let said = std::mem::take(&mut docs).join(" ");
                let known: BTreeSet<_> = of_name.union(outer).cloned().collect();
                if says_only(&said, &known) {
                    let line = name.span().start().line;
                    repeated.push(format!(
                        "line {line}: `{}` repeats `{name}`: delete it or say why",
                        said.trim()
                    ));
                }
                names.extend(of_name);
            }
            TokenTree::Group(group) => {
                docs.clear();
                let is_body = group.delimiter() == Delimiter::Brace;
                let around = if is_body { names.union(outer).cloned().collect() } else { BTreeSet::new() };
                collect_repeated(group.stream(), &around, repeated);
                // The next item has names of its own.
                if is_body {
                    names.clear();
                }
            }
            TokenTree::Punct(punct) => {
                docs.clear();
                if punct.as_char() == ';' {
                    names.clear();
                }
            }
            TokenTree::Literal(_) => docs.clear(),
        }
    }
}

fn is_attribute(tokens: &[TokenTree], at: usize) -> bool {
    at > 0 && matches!(&tokens[at - 1], TokenTree::Punct(punct) if punct.as_char() == '#')
}

fn follows_pub(tokens: &[TokenTree], at: usize) -> bool {
    at > 0 && matches!(&tokens[at - 1], TokenTree::Ident(name) if name == "pub")
}

/// The text of an attribute that is a doc comment.
fn doc_of(group: &Group) -> Option<String> {
    let mut tokens = group.stream().into_iter();
    let is_doc = matches!(tokens.next(), Some(TokenTree::Ident(name)) if name == "doc");
    let Some(TokenTree::Literal(literal)) = tokens.nth(1) else { return None };
    let Lit::Str(text) = Lit::new(literal) else { return None };
    is_doc.then(|| text.value())
}

/// Code tells something unless it is the name itself: `# a` above `Heading` is an example.
fn says_only(doc: &str, names: &BTreeSet<String>) -> bool {
    let is_named = |word: &String| names.contains(&folded(word));
    let is_telling = |(at, text): (usize, &str)| {
        let is_code = at % 2 == 1;
        words(text).iter().any(|word| !is_named(word) && (is_code || !STOP_WORDS.contains(&word.as_str())))
    };
    !words(doc).is_empty() && !doc.split('`').enumerate().any(is_telling)
}

/// `PageToken` and `page_tokens` have the same words.
fn words_of_name(name: &str) -> BTreeSet<String> {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !text.ends_with(char::is_uppercase) {
            text.push('_');
        }
        text.push(c);
    }
    words(&text.replace('_', " ")).iter().map(|word| folded(word)).collect()
}

/// A word in the singular, as is a verb in the third person: `takes` is `take`.
fn folded(word: &str) -> String {
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    let hissing = ["sses", "xes", "ches", "shes"];
    let cut = if hissing.iter().any(|end| word.ends_with(end)) {
        2
    } else {
        usize::from(word.len() > 2 && word.ends_with('s') && !word.ends_with("ss"))
    };
    word[..word.len() - cut].to_owned()
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
