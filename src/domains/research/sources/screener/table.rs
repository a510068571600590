//! The table of a screen: rows of stocks, in columns that only the tooltips of the header name.
//!
//! The header row repeats every 15 rows. A number that is blank, `-` or `NA` is missing; one that reads as anything
//! else but a number makes the page unreadable, since a layout that has changed must not pass for data.

use percent_encoding::percent_decode_str;
use scraper::{ElementRef, Html};

use super::selector::selector;
use crate::{
    domains::research::sources::universe,
    domains::research::store::screens::ScreenedStock,
    upstream::{http::Failure, text},
};

/// One result.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// The site's own number of the company, which occurs once in a screen.
    pub(super) company: String,
    /// The stock; `None` for one without a price or a market capitalisation.
    pub(super) stock: Option<ScreenedStock>,
}

/// Where the numbers stand, counted in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Columns {
    cells: usize,
    cmp: usize,
    market_cap: usize,
    pe: Option<usize>,
    roe: Option<usize>,
}

/// The rows of a page, in its order.
pub(super) fn read(page: &Html) -> Result<Vec<Row>, Failure> {
    let mut columns = None;
    let mut rows = Vec::new();
    for row in page.select(&selector("table.data-table tr")) {
        if row.child_elements().any(|cell| cell.value().name() == "th") {
            let found = Columns::read(row)?;
            if columns.replace(found).is_some_and(|before| before != found) {
                return Err(Failure::malformed("a table whose columns change"));
            }
        } else if let Some(company) = row.attr("data-row-company-id") {
            let columns = columns.ok_or_else(|| Failure::malformed("a row before any header"))?;
            rows.push(Row { company: company.to_owned(), stock: stock(row, columns)? });
        }
    }
    Ok(rows)
}

impl Columns {
    fn read(header: ElementRef<'_>) -> Result<Self, Failure> {
        let tooltips: Vec<_> = header.child_elements().map(|cell| cell.attr("data-tooltip")).collect();
        let find = |wanted: &str| {
            let is_wanted = |tooltip: &&str| tooltip.trim().eq_ignore_ascii_case(wanted);
            tooltips.iter().position(|tooltip| tooltip.as_ref().is_some_and(is_wanted))
        };
        let needed = |wanted: &str| {
            find(wanted)
                .ok_or_else(|| Failure::malformed(format!("no column {wanted:?}")).saying(unsuited(wanted)))
        };
        Ok(Self {
            cells: tooltips.len(),
            cmp: needed("Current Price")?,
            market_cap: needed("Market Capitalization")?,
            pe: find("Price to Earning"),
            roe: find("Return on equity"),
        })
    }
}

fn unsuited(column: &str) -> String {
    format!("The screen has no column '{column}'. Tell the user to add it on Screener.in.")
}

fn stock(row: ElementRef<'_>, columns: Columns) -> Result<Option<ScreenedStock>, Failure> {
    let cells: Vec<_> = row.child_elements().collect();
    if cells.len() != columns.cells {
        return Err(Failure::malformed(format!("a row of {} cells under {}", cells.len(), columns.cells)));
    }
    let at = |column: usize| number(&cells[column].text().collect::<String>());
    let optional = |column: Option<usize>| column.map_or(Ok(None), at);
    let (symbol, name) = company(row)?;
    let (pe, roe) = (optional(columns.pe)?, optional(columns.roe)?);
    let (Some(cmp), Some(market_cap_cr)) = (at(columns.cmp)?, at(columns.market_cap)?) else {
        return Ok(None);
    };
    Ok(Some(ScreenedStock { symbol, name, cmp, pe, market_cap_cr, roe }))
}

/// Symbol and name, from the link to the company's page: `/company/RELIANCE/consolidated/`.
fn company(row: ElementRef<'_>) -> Result<(String, String), Failure> {
    let link = row.select(&selector(r#"a[href*="/company/"]"#)).next();
    let link = link.ok_or_else(|| Failure::malformed("a row without a link to its company"))?;
    let (_, path) = link.attr("href").and_then(|href| href.split_once("/company/")).unwrap_or_default();
    let symbol = path.split(['/', '?', '#']).next().unwrap_or_default();
    let symbol = universe::normal(&percent_decode_str(symbol).decode_utf8_lossy());
    if !is_symbol(&symbol) {
        return Err(Failure::malformed("a company whose address holds no symbol"));
    }
    let name = text::title(&link.text().collect::<String>());
    Ok((symbol, name))
}

fn is_symbol(text: &str) -> bool {
    (1..=20).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"&-_".contains(&b))
}

fn number(cell: &str) -> Result<Option<f64>, Failure> {
    let text: String = cell.chars().filter(|c| !c.is_whitespace() && *c != ',').collect();
    if ["", "-", "--", "na", "n/a"].contains(&text.to_lowercase().as_str()) {
        return Ok(None);
    }
    // Rust reads "inf" and "nan" too.
    let parsed = text.parse().ok().filter(|number: &f64| number.is_finite());
    let unreadable =
        || Failure::malformed(format!("no number: {:?}", text.chars().take(20).collect::<String>()));
    parsed.map(Some).ok_or_else(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = r#"<tr><th>S.No.</th><th>Name</th><th data-tooltip="Current Price">CMP</th>
        <th data-tooltip="Price to Earning">P/E</th><th data-tooltip="Market Capitalization">Mar Cap</th>
        <th data-tooltip="Return on equity">ROE</th></tr>"#;

    fn row(id: u32, symbol: &str, numbers: [&str; 4]) -> String {
        let [cmp, pe, cap, roe] = numbers;
        format!(
            r#"<tr data-row-company-id="{id}"><td>{id}.</td><td><a href="/company/{symbol}/consolidated/"> Name
            {id} </a></td><td>{cmp}</td><td>{pe}</td><td>{cap}</td><td>{roe}</td></tr>"#
        )
    }

    fn table(rows: &str) -> Result<Vec<Row>, Failure> {
        read(&Html::parse_document(&format!(
            "<table class='data-table text-nowrap'><tbody>{rows}</tbody></table>"
        )))
    }

    #[track_caller]
    fn refused(rows: &str, detail: &str) {
        let failure = table(rows).unwrap_err();
        assert!(failure.detail.contains(detail), "{failure}");
    }

    #[test]
    fn a_row_is_a_stock_and_headers_repeat() {
        let first = row(7, "RELIANCE", ["1,415.60", "24.5", "19,15,682.10", "9.1"]);
        let second = row(8, "M%26M", [" 3,000 ", "-", "3,73,000", ""]);
        let rows = table(&format!("{HEADER}{first}{HEADER}{second}<tr><td>Median</td></tr>")).unwrap();
        let stocks: Vec<_> = rows.into_iter().map(|row| (row.company, row.stock.unwrap())).collect();
        assert_eq!(stocks[0].0, "7");
        assert_eq!(stocks[0].1.symbol, "RELIANCE");
        assert_eq!(stocks[0].1.name, "Name 7");
        let numbers = |stock: &ScreenedStock| (stock.cmp, stock.pe, stock.market_cap_cr, stock.roe);
        assert_eq!(numbers(&stocks[0].1), (1415.6, Some(24.5), 1_915_682.1, Some(9.1)));
        assert_eq!(stocks[1].1.symbol, "M&M");
        assert_eq!(numbers(&stocks[1].1), (3000.0, None, 373_000.0, None));
    }

    #[test]
    fn columns_are_found_wherever_they_stand() {
        let rows = r#"<tr><th>Name</th><th data-tooltip="market capitalization">m</th>
            <th data-tooltip=" Current Price ">c</th></tr>
            <tr data-row-company-id="1"><td><a href="/company/TCS/">TCS</a></td><td>10</td><td>2</td></tr>"#;
        let stock = table(rows).unwrap().remove(0).stock.unwrap();
        assert_eq!((stock.market_cap_cr, stock.cmp, stock.pe, stock.roe), (10.0, 2.0, None, None));
    }

    #[test]
    fn a_stock_without_a_price_is_a_result_without_a_stock() {
        let rows = table(&format!("{HEADER}{}", row(1, "TCS", ["NA", "1", "2", "3"]))).unwrap();
        assert_eq!(rows, [Row { company: "1".to_owned(), stock: None }]);
    }

    #[test]
    fn missing_numbers_are_written_in_several_ways_and_nothing_else_is_one() {
        for missing in ["", "  ", "-", "--", "NA", "n/a"] {
            assert_eq!(number(missing), Ok(None), "{missing:?}");
        }
        for (text, expected) in [("-12.5", -12.5), ("1,23,456.7", 123_456.7), ("\u{a0}5\n", 5.0)] {
            assert_eq!(number(text), Ok(Some(expected)), "{text:?}");
        }
        for hostile in ["inf", "NaN", "1e999", "12%", "₹ 5", "<b>", "0x10", "1.2.3"] {
            assert!(number(hostile).is_err(), "{hostile:?}");
        }
    }

    #[test]
    fn a_layout_that_has_changed_is_refused() {
        let tcs = row(1, "TCS", ["1", "2", "3", "4"]);
        refused(&tcs, "before any header");
        refused(&format!("{}{tcs}", HEADER.replace("Current Price", "Price")), "Current Price");
        refused(&format!("{HEADER}{}{tcs}", HEADER.replace("Price to Earning", "PE")), "columns change");
        refused(&format!("{HEADER}{}", tcs.replace("<td>4</td>", "")), "5 cells under 6");
        refused(&format!("{HEADER}{}", tcs.replace("/company/", "/firm/")), "without a link");
        refused(&format!("{HEADER}{}", row(1, "TCS", ["soon", "2", "3", "4"])), "no number");
    }

    #[test]
    fn a_hostile_symbol_or_name_does_not_come_through() {
        for symbol in ["", "%3Cscript%3E", "../../x", "A B", &"A".repeat(21)] {
            refused(&format!("{HEADER}{}", row(1, symbol, ["1", "2", "3", "4"])), "no symbol");
        }
        let disguised = row(1, "TCS", ["1", "2", "3", "4"]).replace(" Name\n", "\u{202e}N\u{200b}ame\u{0}\n");
        let name = table(&format!("{HEADER}{disguised}")).unwrap().remove(0).stock.unwrap().name;
        assert!(
            name.starts_with("Name") && name.chars().all(|c| c.is_ascii_graphic() || c == ' '),
            "{name:?}"
        );
    }
}
