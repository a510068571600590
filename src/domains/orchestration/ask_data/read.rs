//! A document as a table: CSV and TSV with their columns in the first row, JSON lists and lines of objects.

use csv::StringRecord;

use super::{
    bounds::{MAX_COLUMNS, MAX_DOCUMENT_BYTES},
    error::AskError,
    json,
    table::{Table, Watch},
};
use toolwire_base::words::without_bom;
use toolwire_state::workspace::{blocks::table, mime::Kind};

pub(super) fn read(kind: Kind<'_>, bytes: &[u8], watch: &Watch<'_>) -> Result<Table, AskError> {
    if bytes.len() > MAX_DOCUMENT_BYTES {
        return Err(AskError::TooLarge);
    }
    let not_text = |_| AskError::NotATable("it is not UTF-8".to_owned());
    let text = without_bom(std::str::from_utf8(bytes).map_err(not_text)?);
    let mut table = match kind {
        Kind::Table(delimiter) => read_delimited(delimiter, text, watch)?,
        Kind::Json => json::read_list(text, watch)?,
        Kind::JsonLines => json::read_lines(text, watch)?,
        _ => {
            let known = "its type is none of text/csv, text/tab-separated-values, application/json and \
                         application/x-ndjson";
            return Err(AskError::NotATable(known.to_owned()));
        }
    };
    if table.columns().is_empty() {
        return Err(AskError::NotATable("it has no columns".to_owned()));
    }
    table.find_kinds(watch)?;
    Ok(table)
}

fn read_delimited(delimiter: u8, text: &str, watch: &Watch<'_>) -> Result<Table, AskError> {
    let mut reader = table::reader(delimiter, text);
    let mut record = StringRecord::new();
    let mut table = Table::default();
    let malformed = |error: csv::Error| AskError::NotATable(error.to_string());
    if reader.read_record(&mut record).map_err(malformed)? {
        name_columns(&mut table, &record)?;
    }
    while reader.read_record(&mut record).map_err(malformed)? {
        watch.check(table.rows())?;
        table.begin_row()?;
        let columns = table.columns().len();
        if record.len() != columns {
            table.count_ragged();
        }
        record.iter().take(columns).try_for_each(|cell| table.push_cell(cell))?;
    }
    Ok(table)
}

/// Names columns by the first record: one without a name by its number, one whose name is taken by that and a number.
fn name_columns(table: &mut Table, record: &StringRecord) -> Result<(), AskError> {
    if record.len() > MAX_COLUMNS {
        return Err(AskError::TooMany);
    }
    for (index, name) in record.iter().enumerate() {
        let name = name.trim();
        let name = if name.is_empty() { format!("column_{}", index + 1) } else { name.to_owned() };
        let is_taken = |name: &str| table.columns().iter().any(|column| column.name == name);
        let mut free = name.clone();
        let mut number = 1;
        while is_taken(&free) {
            number += 1;
            free = format!("{name}_{number}");
        }
        table.add_column(free);
    }
    Ok(())
}
