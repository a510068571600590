//! Statements whose values stand in their text. Only literals become text, so no value can.

use std::str::FromStr;

use proc_macro::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};

const STATEMENT: &str = "::toolwire_store::sql::Statement";

/// A statement: `sql!("SELECT a FROM t WHERE b = {b}{..more}")`. In braces stands an expression without quotation
/// marks: a value, which is bound as a parameter, or, after two dots, a part of the statement.
#[proc_macro]
pub fn sql(input: TokenStream) -> TokenStream {
    statement(STATEMENT, "", input)
}

/// A statement that reads a type: `select!(Job, "FROM jobs WHERE user_id = {user}")`.
#[proc_macro]
pub fn select(input: TokenStream) -> TokenStream {
    let mut tokens = split(input).into_iter();
    let row = tokens.next().unwrap_or_default();
    let columns = format!("SELECT {{..::toolwire_store::sql::columns::<{row}>()}} ");
    statement(&format!("{STATEMENT}::<{row}>"), &columns, tokens.next().unwrap_or_default())
}

/// A statement that inserts one row: `insert! { table: column = value, other = value }`. A column without a value has
/// that of the variable of its name.
#[proc_macro]
pub fn insert(input: TokenStream) -> TokenStream {
    let mut input = input.into_iter();
    let table = input.next().map(|it| it.to_string()).unwrap_or_default();
    let columns = split(input.skip(1).collect());
    let (mut names, mut parameters, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for column in columns {
        let mut column = column.into_iter();
        let Some(name) = column.next() else { continue };
        let value: TokenStream = column.skip(1).collect();
        names.push(name.to_string());
        parameters.push(format!("${}", names.len()));
        values.push(if value.is_empty() { name.into() } else { value });
    }
    let text = format!("INSERT INTO {table} ({}) VALUES ({})", names.join(", "), parameters.join(", "));
    new(STATEMENT, &Literal::string(&text).to_string(), values)
}

/// Parts of a statement of a type: texts with their values, and what is spliced in between.
fn statement(of: &str, before: &str, input: TokenStream) -> TokenStream {
    let Some((literal, span)) = input.into_iter().next().as_ref().and_then(literal) else {
        return tokens("compile_error!(\"a statement is one string literal\")");
    };
    let (mut statement, mut text, mut values) = (TokenStream::new(), String::new(), Vec::new());
    let all = format!("{before}{}", &literal[1..literal.len() - 1]);
    let mut rest = all.as_str();
    while let Some((plain, after)) = rest.split_once('{') {
        text.push_str(plain);
        let (expression, after) = after.split_at(closing(after));
        rest = &after[1..];
        if let Some(part) = expression.strip_prefix("..") {
            statement = add(of, statement, &text, std::mem::take(&mut values));
            statement.extend(call(".and", spanned(tokens(part), span)));
            text.clear();
        } else {
            values.push(spanned(tokens(expression), span));
            text.push_str(&format!("${}", values.len()));
        }
    }
    text.push_str(rest);
    add(of, statement, &text, values)
}

/// Where the brace is that closes an expression.
fn closing(text: &str) -> usize {
    let mut depth = 1;
    let is_closing = |(_, character): &(usize, char)| {
        depth += i32::from(*character == '{') - i32::from(*character == '}');
        depth == 0
    };
    text.char_indices().find(is_closing).expect("a brace is closed").0
}

/// The text of a string literal as it is written, and where it stands.
fn literal(token: &TokenTree) -> Option<(String, Span)> {
    match token {
        TokenTree::Literal(literal) => Some((literal.to_string(), literal.span())),
        // From another macro.
        TokenTree::Group(group) => literal(&group.stream().into_iter().next()?),
        _ => None,
    }
    .filter(|(text, _)| text.starts_with('"'))
}

/// Adds a text to what is there of a statement of a type.
fn add(of: &str, mut statement: TokenStream, text: &str, values: Vec<TokenStream>) -> TokenStream {
    let text = format!("\"{text}\"");
    if statement.is_empty() {
        return new(of, &text, values);
    }
    if text.len() > 2 {
        statement.extend(call(".and", new(STATEMENT, &text, values)));
    }
    statement
}

fn new(of: &str, text: &str, values: Vec<TokenStream>) -> TokenStream {
    let mut arguments = tokens(text);
    arguments.extend(tokens(", ::std::vec::Vec::from"));
    let value = |value| {
        let mut value = call("::toolwire_store::sql::Value::from", value);
        value.extend(tokens(","));
        value
    };
    let values = Group::new(Delimiter::Bracket, values.into_iter().map(value).collect());
    arguments.extend([group(Delimiter::Parenthesis, TokenTree::from(values).into())]);
    call(&format!("{of}::new"), arguments)
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

/// The tokens as if they stood at a place.
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

/// What stands between commas.
fn split(tokens: TokenStream) -> Vec<TokenStream> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(it) if it.as_char() == ',');
    tokens.split(is_comma).map(|some| some.iter().cloned().collect()).collect()
}
