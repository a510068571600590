//! Delimiter-separated values: one table, whose first row names the columns.

use csv::{Reader, ReaderBuilder, StringRecord};
use serde_json::{Value, json};

use super::build::Blocks;

/// Maximum number of rows in a block.
const MAX_ROWS: usize = 1_000;
/// Maximum number of cells in a block.
const MAX_CELLS: usize = 100_000;

/// A reader of the table. The first record is returned like any other, and records may differ in length.
///
/// With the delimiter `,`, a first line without commas switches to semicolons or tabs.
pub fn reader(delimiter: u8, text: &str) -> Reader<&[u8]> {
    let first = text.lines().next().unwrap_or_default();
    let delimiter = match delimiter {
        b',' if !first.contains(',') && first.contains(';') => b';',
        b',' if !first.contains(',') && first.contains('\t') => b'\t',
        stated => stated,
    };
    ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text.as_bytes())
}

pub(super) fn write(delimiter: u8, text: &str, is_whole: bool, blocks: &mut Blocks) {
    let mut reader = reader(delimiter, text);
    let mut record = StringRecord::new();
    if !next(&mut reader, &mut record, text, is_whole) {
        return;
    }
    let columns = cells(&record);
    let (mut rows, mut count, mut room) = (Vec::new(), 0_u64, MAX_CELLS);
    while next(&mut reader, &mut record, text, is_whole) {
        count += 1;
        if rows.len() < MAX_ROWS && record.len() <= room {
            room -= record.len();
            rows.push(cells(&record));
        } else {
            // Later rows are only counted, so that the returned rows are the first ones, without a gap.
            room = 0;
        }
    }
    blocks.push(json!({"type": "table", "columns": columns, "rows": rows, "rows_total": count}));
}

/// Reads the next record; false at the end, or if the record is truncated by the limit of what was read.
fn next(reader: &mut Reader<&[u8]>, record: &mut StringRecord, text: &str, is_whole: bool) -> bool {
    let is_there = reader.read_record(record).unwrap_or(false);
    let is_cut = reader.position().byte() >= text.len() as u64 && !is_whole;
    is_there && !is_cut
}

fn cells(record: &StringRecord) -> Value {
    record.iter().collect()
}
