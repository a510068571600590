//! Markdown: headings, paragraphs, lists, quotes, tables, code. Inline markup is left as it is.
//!
//! A single pass that inspects each line a constant number of times. Nested lists are flattened; indented code is a
//! paragraph.

use std::{iter::Peekable, str::Lines};

use serde_json::{Value, json};

use super::build::{Blocks, add_line, code};

type Rest<'a> = Peekable<Lines<'a>>;

pub(super) fn write(text: &str, blocks: &mut Blocks) {
    let mut lines = text.lines().peekable();
    let mut paragraph = String::new();
    while let Some(line) = lines.next() {
        let level = underline(line).filter(|_| !paragraph.is_empty());
        if let Some(level) = level {
            blocks.push(json!({"type": "heading", "level": level, "text": std::mem::take(&mut paragraph)}));
            continue;
        }
        let table = columns(line, &lines);
        if begins_block(line) || table.is_some() {
            flush(&mut paragraph, blocks);
            let block = table.map(|columns| read_table(&columns, &mut lines));
            if let Some(block) = block.or_else(|| read_block(line, &mut lines)) {
                blocks.push(block);
            }
        } else {
            add_line(&mut paragraph, line.trim());
        }
    }
    flush(&mut paragraph, blocks);
}

fn flush(paragraph: &mut String, blocks: &mut Blocks) {
    if !paragraph.is_empty() {
        blocks.push(json!({"type": "paragraph", "text": std::mem::take(paragraph)}));
    }
}

/// Whether a line ends the paragraph before it.
fn begins_block(line: &str) -> bool {
    let is_quote = line.trim_start().starts_with('>');
    line.trim().is_empty()
        || is_quote
        || is_rule(line)
        || fence(line).is_some()
        || heading(line).is_some()
        || item(line).is_some()
}

/// The block that begins with a line; `None` for a blank line or a rule.
fn read_block(line: &str, lines: &mut Rest<'_>) -> Option<Value> {
    if let Some((level, text)) = heading(line) {
        return Some(json!({"type": "heading", "level": level, "text": text}));
    }
    if let Some(fence) = fence(line) {
        return Some(read_code(fence, lines));
    }
    if line.trim_start().starts_with('>') {
        return Some(read_quote(line, lines));
    }
    let (is_ordered, first) = item(line).filter(|_| !is_rule(line))?;
    Some(read_list(is_ordered, first, lines))
}

/// Parses `# Title` into its level and text.
fn heading(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start();
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    let title = &text[level..];
    let is_heading = (1..=6).contains(&level) && (title.is_empty() || title.starts_with([' ', '\t']));
    is_heading.then(|| (level, title.trim().trim_end_matches('#').trim_end()))
}

/// The level of a heading that this line underlines: `===` or `---`.
fn underline(line: &str) -> Option<usize> {
    let line = line.trim();
    let all = |c: char| !line.is_empty() && line.chars().all(|other| other == c);
    if all('=') { Some(1) } else { (line.len() >= 2 && all('-')).then_some(2) }
}

/// Whether a line is a thematic break: `***`, `- - -`, `___`.
fn is_rule(line: &str) -> bool {
    let mut marks = line.chars().filter(|c| !c.is_whitespace());
    let Some(first @ ('-' | '*' | '_')) = marks.next() else { return false };
    let mut more = 0;
    marks.all(|c| {
        more += 1;
        c == first
    }) && more >= 2
}

/// The marker, its length, and the language of a code fence.
fn fence(line: &str) -> Option<(char, usize, &str)> {
    let text = line.trim_start();
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let count = text.chars().take_while(|c| *c == mark).count();
    let language = text[count..].trim();
    let is_inline = mark == '`' && language.contains('`');
    (count >= 3 && !is_inline).then(|| (mark, count, language.split_whitespace().next().unwrap_or_default()))
}

fn read_code((mark, count, language): (char, usize, &str), lines: &mut Rest<'_>) -> Value {
    let mut text = String::new();
    for line in lines.by_ref() {
        let is_end = fence(line)
            .is_some_and(|(other, marks, rest)| other == mark && marks >= count && rest.is_empty());
        if is_end {
            break;
        }
        text.push_str(line);
        text.push('\n');
    }
    text.pop();
    code(language, &text)
}

fn read_quote(first: &str, lines: &mut Rest<'_>) -> Value {
    let quoted = |line: &str| {
        let text = line.trim_start().trim_start_matches('>');
        text.strip_prefix(' ').unwrap_or(text).trim_end().to_owned()
    };
    let mut text = quoted(first);
    while let Some(line) = lines.next_if(|line| line.trim_start().starts_with('>')) {
        text.push('\n');
        text.push_str(&quoted(line));
    }
    json!({"type": "quote", "text": text.trim_matches('\n')})
}

/// Parses an item of a list: whether it is numbered, and its text.
fn item(line: &str) -> Option<(bool, &str)> {
    let text = line.trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let mark = text.as_bytes().get(digits)?;
    let is_mark = if digits == 0 { b"-*+".contains(mark) } else { digits <= 9 && b".)".contains(mark) };
    let rest = text.get(digits + 1..).filter(|_| is_mark)?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| (digits > 0, rest.trim()))
}

fn read_list(is_ordered: bool, first: &str, lines: &mut Rest<'_>) -> Value {
    let mut items = vec![first.to_owned()];
    let mut after_blank = false;
    while let Some(line) = lines.peek().copied() {
        let is_indented = line.starts_with([' ', '\t']);
        if line.trim().is_empty() {
            after_blank = true;
        } else if let Some((ordered, text)) = item(line).filter(|_| !is_rule(line)) {
            if ordered != is_ordered && !is_indented {
                break;
            }
            items.push(text.to_owned());
            after_blank = false;
        } else if (after_blank || begins_block(line)) && !is_indented {
            break;
        } else if let Some(last) = items.last_mut() {
            add_line(last, line.trim());
            after_blank = false;
        }
        lines.next();
    }
    json!({"type": "list", "ordered": is_ordered, "items": items})
}

/// The columns of a table, if a line is its header and the next one its delimiter row.
fn columns(line: &str, lines: &Rest<'_>) -> Option<Vec<String>> {
    if !line.contains('|') {
        return None;
    }
    let below = lines.clone().next()?;
    let is_drawn = |cell: &String| {
        let cell = cell.strip_prefix(':').unwrap_or(cell);
        let cell = cell.strip_suffix(':').unwrap_or(cell);
        !cell.is_empty() && cell.bytes().all(|byte| byte == b'-')
    };
    let (columns, below) = (cells(line), if below.contains('-') { cells(below) } else { Vec::new() });
    (columns.len() == below.len() && below.iter().all(is_drawn)).then_some(columns)
}

fn read_table(columns: &[String], lines: &mut Rest<'_>) -> Value {
    lines.next();
    let (mut rows, mut count) = (Vec::new(), 0_u64);
    while let Some(line) = lines.next_if(|line| line.contains('|')) {
        count += 1;
        if rows.len() < 1_000 {
            rows.push(cells(line));
        }
    }
    json!({"type": "table", "columns": columns, "rows": rows, "rows_total": count})
}

/// The cells of a row. An escaped `\|` does not separate cells.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim();
    let line = line.strip_prefix('|').unwrap_or(line);
    let line = line.strip_suffix('|').filter(|rest| !rest.ends_with('\\')).unwrap_or(line);
    let mut cells = vec![String::new()];
    let mut is_escaped = false;
    for c in line.chars() {
        match c {
            '|' if !is_escaped => cells.push(String::new()),
            '|' => {
                let cell = cells.last_mut().expect("it begins with one");
                cell.pop();
                cell.push('|');
            }
            _ => cells.last_mut().expect("it begins with one").push(c),
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}
