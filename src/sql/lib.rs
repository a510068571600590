//! The procedural parts of the macros `sql!`, `select!` and `insert!` of `toolwire-db`, where they are described.
//! Only string literals become text, and every value becomes a parameter, so no value can change a statement.

use std::str::FromStr;

use proc_macro::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};

/// Stands for the path of the module of statements, which the macros get before a semicolon.
const MODULE: &str = "__toolwire_sql";
/// The type that the macros build.
const STATEMENT: &str = "__toolwire_sql::Statement";

/// `sql!(path::of::module; …)`.
#[proc_macro]
pub fn sql(input: TokenStream) -> TokenStream {
    expand(input, |input| statement(STATEMENT, "", input))
}

/// `select!(path::of::module; …)`.
#[proc_macro]
pub fn select(input: TokenStream) -> TokenStream {
    expand(input, select_statement)
}

/// `insert!(path::of::module; …)`.
#[proc_macro]
pub fn insert(input: TokenStream) -> TokenStream {
    expand(input, insert_statement)
}

/// Expands the tokens behind the path of the module.
fn expand(input: TokenStream, statement: fn(TokenStream) -> TokenStream) -> TokenStream {
    let mut input = input.into_iter();
    let is_path = |token: &TokenTree| !matches!(token, TokenTree::Punct(it) if it.as_char() == ';');
    let module: TokenStream = input.by_ref().take_while(is_path).collect();
    in_module(statement(input.collect()), &module)
}

/// Puts the path of the module where the text of a path could not have it: `$crate` is a token alone.
fn in_module(tokens: TokenStream, module: &TokenStream) -> TokenStream {
    let replace = |token| match token {
        TokenTree::Ident(name) if name.to_string() == MODULE => module.clone(),
        TokenTree::Group(group) => {
            let mut replaced = Group::new(group.delimiter(), in_module(group.stream(), module));
            replaced.set_span(group.span());
            TokenTree::from(replaced).into()
        }
        other => other.into(),
    };
    tokens.into_iter().flat_map(replace).collect()
}

fn select_statement(input: TokenStream) -> TokenStream {
    let mut tokens = split(input).into_iter();
    let row = tokens.next().unwrap_or_default();
    let columns = format!("SELECT {{..__toolwire_sql::columns::<{row}>()}} ");
    statement(&format!("{STATEMENT}::<{row}>"), &columns, tokens.next().unwrap_or_default())
}

fn insert_statement(input: TokenStream) -> TokenStream {
    let mut input = input.into_iter();
    let table = input.next().map(|it| it.to_string()).unwrap_or_default();
    let columns = split(input.skip(1).collect());
    let (mut names, mut parameters, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for column in columns {
        let mut column = column.into_iter();
        let Some(name) = column.next() else { continue };
        let value: TokenStream = column.skip(1).collect();
        names.push(name.to_string());
        parameters.push("?");
        values.push(if value.is_empty() { name.into() } else { value });
    }
    let text = format!("INSERT INTO {table} ({}) VALUES ({})", names.join(", "), parameters.join(", "));
    new(STATEMENT, &Literal::string(&text).to_string(), values)
}

/// Builds a statement of the type at `path`, whose text begins with `prefix`: a chain of `.and(…)` over texts with
/// their values, and over the parts between them.
fn statement(path: &str, prefix: &str, input: TokenStream) -> TokenStream {
    let Some((literal, span)) = input.into_iter().next().as_ref().and_then(literal) else {
        return tokens("compile_error!(\"a statement is one string literal\")");
    };
    let (mut statement, mut text, mut values) = (TokenStream::new(), String::new(), Vec::new());
    // Without its quotation marks, and with its escapes as they were written: the text becomes a literal again.
    let all = format!("{prefix}{}", &literal[1..literal.len() - 1]);
    let mut rest = all.as_str();
    while let Some((plain, after)) = rest.split_once('{') {
        text.push_str(plain);
        let (expression, after) = after.split_at(closing(after));
        rest = &after[1..];
        if let Some(part) = expression.strip_prefix("..") {
            statement = add(path, statement, &text, std::mem::take(&mut values));
            statement.extend(call(".and", spanned(tokens(part), span)));
            text.clear();
        } else {
            values.push(spanned(tokens(expression), span));
            text.push('?');
        }
    }
    text.push_str(rest);
    add(path, statement, &text, values)
}

/// The index of the brace that closes an expression.
fn closing(text: &str) -> usize {
    let mut depth = 1;
    let is_closing = |(_, character): &(usize, char)| {
        depth += i32::from(*character == '{') - i32::from(*character == '}');
        depth == 0
    };
    text.char_indices().find(is_closing).expect("a brace is closed").0
}

/// The source text of a string literal, and its span.
fn literal(token: &TokenTree) -> Option<(String, Span)> {
    match token {
        TokenTree::Literal(literal) => Some((literal.to_string(), literal.span())),
        // A literal that another macro passes on is in a group without delimiters.
        TokenTree::Group(group) => literal(&group.stream().into_iter().next()?),
        _ => None,
    }
    .filter(|(text, _)| text.starts_with('"'))
}

/// Adds a text with its values. The first one makes the statement of the type at `path`; a further one is a part, which
/// has no type of rows, and is omitted if it is empty.
fn add(path: &str, mut statement: TokenStream, text: &str, values: Vec<TokenStream>) -> TokenStream {
    let text = format!("\"{text}\"");
    if statement.is_empty() {
        return new(path, &text, values);
    }
    // Longer than its quotation marks.
    if text.len() > 2 {
        statement.extend(call(".and", new(STATEMENT, &text, values)));
    }
    statement
}

/// The expression `path::new(text, Vec::from([Value::from(value), …]))`.
fn new(path: &str, text: &str, values: Vec<TokenStream>) -> TokenStream {
    let mut arguments = tokens(text);
    arguments.extend(tokens(", ::std::vec::Vec::from"));
    let value = |value| {
        let mut value = call("__toolwire_sql::Value::from", value);
        value.extend(tokens(","));
        value
    };
    let values = Group::new(Delimiter::Bracket, values.into_iter().map(value).collect());
    arguments.extend([group(Delimiter::Parenthesis, TokenTree::from(values).into())]);
    call(&format!("{path}::new"), arguments)
}

fn call(function: &str, arguments: TokenStream) -> TokenStream {
    let mut call = tokens(function);
    call.extend([group(Delimiter::Parenthesis, arguments)]);
    call
}

fn group(delimiter: Delimiter, content: TokenStream) -> TokenTree {
    Group::new(delimiter, content).into()
}

fn tokens(text: &str) -> TokenStream {
    TokenStream::from_str(text).expect("an expression in a statement is Rust")
}

/// Gives the tokens of an expression the span of its literal, so that errors point there and names resolve there.
fn spanned(tokens: TokenStream, span: Span) -> TokenStream {
    let respan = |mut token: TokenTree| {
        if let TokenTree::Group(group) = &token {
            token = self::group(group.delimiter(), spanned(group.stream(), span));
        }
        token.set_span(span);
        token
    };
    tokens.into_iter().map(respan).collect()
}

/// Splits tokens at their top-level commas.
fn split(tokens: TokenStream) -> Vec<TokenStream> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(it) if it.as_char() == ',');
    tokens.split(is_comma).map(|part| part.iter().cloned().collect()).collect()
}
