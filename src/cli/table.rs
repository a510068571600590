//! Columns of text, each as wide as its widest cell.

/// The rows as lines: columns two spaces apart, no space at the end of a line.
pub(super) fn lines<const N: usize>(rows: &[[String; N]], indent: &str) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: [usize; N] = std::array::from_fn(width);
    rows.iter().map(|row| line(row, &widths, indent)).collect()
}

fn line<const N: usize>(row: &[String; N], widths: &[usize; N], indent: &str) -> String {
    let cells: Vec<_> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
    format!("{indent}{}", cells.join("  ").trim_end()) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a".to_owned(), "x".to_owned()], ["long".to_owned(), String::new()]];
        assert_eq!(lines(&rows, " "), " a     x\n long\n");
    }
}
