//! Plain words: what readers stumble over whose second language is English, in comments and texts of `src/`.

use std::str::FromStr;

use proc_macro2::{Group, TokenStream, TokenTree};
use syn::Lit;

use crate::{
    findings::Finding,
    tree::{File, Tree},
};

/// Phrases in lower case, each with what to write instead.
const PHRASES: &[(&str, &str)] = &[
    ("anew", "again"),
    ("bear on nothing", "older than every window"),
    ("clothes", "the name of the form"),
    ("door", "face or listener"),
    ("doors", "faces or listeners"),
    ("farewell", "the last message, such as GOAWAY"),
    ("foreigner", "a peer of another protocol"),
    ("greeted", "what is sent first, such as SETTINGS"),
    ("lest", "so that … not"),
    ("mend", "fix"),
    ("mended", "fixed"),
    ("mends", "fixes"),
    ("mute", "drops its events"),
    ("stand still", "do not change"),
    ("stands still", "does not change"),
    ("stranger", "who it is, such as an unknown key"),
];

/// How many words may stand between `let` and `through`.
const BETWEEN: usize = 6;

/// The widest line of a comment.
const WIDEST: usize = 120;

/// Files with comments or texts that are not plain.
pub(crate) fn riddles(tree: &Tree) -> Vec<Finding> {
    tree.sources().filter_map(|file| finding(file, &riddles_in(file))).collect()
}

/// Files with comments that are too wide.
pub(crate) fn wide_comments(tree: &Tree) -> Vec<Finding> {
    let places = |file: &File| {
        let wide = comments(file).filter(|(_, text)| text.chars().count() > WIDEST);
        wide.map(|(line, _)| format!("line {line} is wider than {WIDEST} columns")).collect::<Vec<_>>()
    };
    tree.files.iter().filter_map(|file| finding(file, &places(file))).collect()
}

fn finding(file: &File, places: &[String]) -> Option<Finding> {
    (!places.is_empty()).then(|| Finding::new(&file.path, &places.join(", ")))
}

fn riddles_in(file: &File) -> Vec<String> {
    let place = |line: usize, what: String| format!("line {line}: {what}");
    let in_comments = comments(file).filter_map(|(line, text)| Some(place(line, riddle(text)?)));
    let tokens = TokenStream::from_str(&file.text).expect("parsed by the compiler");
    let mut texts = Vec::new();
    collect(tokens, &mut texts);
    let texts = texts.iter();
    let in_texts = texts
        .filter_map(|(line, text)| Some(place(*line, riddle(text).or_else(|| is_no(text))?)))
        .collect::<Vec<_>>();
    in_comments.chain(in_texts).collect()
}

/// The lines that are comments, counted from 1.
fn comments(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let lines = file.text.lines().enumerate();
    lines.filter(|(_, line)| line.trim_start().starts_with("//")).map(|(index, line)| (index + 1, line))
}

/// The texts in quotes, with the lines on which they begin.
fn collect(tokens: TokenStream, texts: &mut Vec<(usize, String)>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) if !is_doc(&group) => collect(group.stream(), texts),
            TokenTree::Literal(literal) => {
                let line = literal.span().start().line;
                if let Lit::Str(text) = Lit::new(literal) {
                    texts.push((line, text.value()));
                }
            }
            _ => {}
        }
    }
}

/// A comment of documentation, which is an attribute to the compiler.
fn is_doc(group: &Group) -> bool {
    matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc")
}

fn riddle(text: &str) -> Option<String> {
    let words = words(text);
    let text = format!(" {} ", words.join(" "));
    let phrase = PHRASES.iter().find(|(phrase, _)| text.contains(&format!(" {phrase} ")));
    let phrase = phrase.map(|(phrase, plain)| format!("`{phrase}`: write {plain}"));
    phrase.or_else(|| lets_through(&words).then(|| "`let … through`: write accept or reject".to_owned()))
}

fn lets_through(words: &[String]) -> bool {
    let lets =
        words.iter().enumerate().filter(|(_, word)| matches!(word.as_str(), "let" | "lets" | "letting"));
    lets.into_iter().any(|(at, _)| words[at..].iter().take(BETWEEN + 2).any(|word| word == "through"))
}

/// `is no number` is German: `is not a number`.
fn is_no(text: &str) -> Option<String> {
    let words = [vec![String::new()], words(text)].concat();
    let is_german = |four: &[String]| {
        let [before, verb, no, after] = four else { return false };
        before != "there" && verb == "is" && no == "no" && after != "longer"
    };
    words.windows(4).any(is_german).then(|| "`is no`: write is not a".to_owned())
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
