//! What stands at the cursor of a command line: which command, and which of its arguments.

use clap::{Arg, ArgAction, Command};

/// The words of a line up to the cursor, as a shell splits them. The last one is the one that is typed.
pub(super) fn words(line: &str) -> Vec<String> {
    let (mut words, mut quote) = (vec![String::new()], None);
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        let word = words.last_mut().expect("one from the beginning");
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None | Some('"'), '\\') => word.extend(characters.next()),
            (None, c) if c.is_whitespace() => {
                if !word.is_empty() {
                    words.push(String::new());
                }
            }
            (_, c) => word.push(c),
        }
    }
    words
}

/// The place of the word that is typed.
#[derive(Debug)]
pub(super) struct Place<'a> {
    /// The command whose argument it is.
    pub(super) command: &'a Command,
    /// The positional arguments before it.
    pub(super) before: Vec<String>,
    pub(super) typed: Typed<'a>,
}

/// What is typed.
#[derive(Debug)]
pub(super) enum Typed<'a> {
    /// The name of a flag.
    Flag(String),
    /// The value of an argument: what is typed of it, and what stands before it in the word.
    Value { of: &'a Arg, typed: String, before: String },
    /// A command, or what no argument takes.
    Other(String),
}

/// Finds the place of the last word.
pub(super) fn place<'a>(program: &'a Command, words: &[String]) -> Place<'a> {
    let (typed, given) = words.split_last().map_or(("", &[][..]), |(last, given)| (last.as_str(), given));
    let (mut command, mut before, mut awaiting) = (program, Vec::new(), None);
    for word in given.iter().skip(1) {
        if awaiting.take().is_some() {
            continue;
        }
        if let Some(flag) = word.strip_prefix("--") {
            awaiting = option(command, flag).filter(|it| !it.is_require_equals_set());
        } else if let Some(inner) = command.find_subcommand(word).filter(|_| before.is_empty()) {
            command = inner;
        } else {
            before.push(word.clone());
        }
    }
    Place { command, typed: at(command, awaiting, typed, before.len()), before }
}

fn at<'a>(command: &'a Command, awaiting: Option<&'a Arg>, typed: &str, index: usize) -> Typed<'a> {
    if let Some(of) = awaiting {
        return Typed::Value { of, typed: typed.to_owned(), before: String::new() };
    }
    if let Some((flag, value)) = typed.strip_prefix("--").and_then(|it| it.split_once('=')) {
        return match option(command, flag) {
            Some(of) => Typed::Value { of, typed: value.to_owned(), before: format!("--{flag}=") },
            None => Typed::Other(typed.to_owned()),
        };
    }
    if typed.starts_with('-') {
        return Typed::Flag(typed.to_owned());
    }
    // The last one may be a list.
    let is_list = |it: &&Arg| {
        matches!(it.get_action(), ArgAction::Append)
            || it.get_num_args().is_some_and(|it| it.max_values() > 1)
    };
    let positional = command.get_positionals().nth(index);
    let positional = positional.or_else(|| command.get_positionals().last().filter(is_list));
    match positional {
        Some(of) => Typed::Value { of, typed: typed.to_owned(), before: String::new() },
        None => Typed::Other(typed.to_owned()),
    }
}

/// The option of this name whose value is another word.
fn option<'a>(command: &'a Command, flag: &str) -> Option<&'a Arg> {
    command.get_opts().find(|it| it.get_long() == Some(flag) && it.get_action().takes_values())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_a_shell_splits_it() {
        assert_eq!(words("toolwire call x a='b c' "), ["toolwire", "call", "x", "a=b c", ""]);
        assert_eq!(words(r#"t "a \" b" c\ d"#), ["t", "a \" b", "c d"]);
        assert_eq!(words("  t"), ["t"]);
    }

    #[test]
    fn the_last_word_is_a_flag_a_value_or_a_command() {
        let call = Command::new("call")
            .arg(Arg::new("tool").value_name("TOOL"))
            .arg(Arg::new("pairs").num_args(0..))
            .arg(Arg::new("format").long("format").value_parser(["text", "json"]))
            .arg(Arg::new("json").long("json").action(ArgAction::SetTrue));
        let program = Command::new("toolwire").subcommand(call);
        let at = |line: &str| {
            let words = words(line);
            let place = place(&program, &words);
            match place.typed {
                Typed::Flag(flag) => format!("flag {flag}"),
                Typed::Value { of, typed, before } => format!("{} {before}{typed}", of.get_id()),
                Typed::Other(typed) => format!("{} {typed}", place.command.get_name()),
            }
        };
        for (line, expected) in [
            ("toolwire ca", "toolwire ca"),
            ("toolwire call get", "tool get"),
            ("toolwire call get_x a=", "pairs a="),
            ("toolwire call get_x a=1 b=", "pairs b="),
            ("toolwire call --format j", "format j"),
            ("toolwire call --format=j", "format --format=j"),
            ("toolwire call --json get", "tool get"),
            ("toolwire call get_x --fo", "flag --fo"),
        ] {
            assert_eq!(at(line), expected, "{line}");
        }
    }
}
