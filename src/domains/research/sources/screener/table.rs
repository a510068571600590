//! The table of a screen: rows of stocks, in columns that only the tooltips of the header name.
//!
//! The header row repeats every 15 rows. A number that is blank, `-` or `NA` is missing; one that reads as anything
//! else but a number makes the page unreadable, since a layout that has changed must not pass for data.

use percent_encoding::percent_decode_str;
use scraper::{ElementRef, Html};

use super::selector::selector;
use crate::{sources::universe, store::screens::ScreenedStock};
use toolwire_sources::upstream::{
    http::Failure,
    text::{Identifier, Line},
};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    /// The site's own number of the company, which occurs once in a screen.
    pub(super) company: Identifier,
    /// The stock; `None` for one without a price or a market capitalisation, or that the NSE does not list.
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
            if is_note(row) {
                continue;
            }
            let columns = columns.ok_or_else(|| Failure::malformed("a row before any header"))?;
            let company = Identifier::of(company);
            if company.is_empty() {
                return Err(Failure::malformed("a row without the site's number of its company"));
            }
            rows.push(Row { company, stock: stock(row, columns)? });
        }
    }
    Ok(rows)
}

/// Whether a row is a note across the table rather than a result.
fn is_note(row: ElementRef<'_>) -> bool {
    let is_wide = row.child_elements().any(|cell| width(cell) > 1);
    is_wide && row.select(&selector(LINK)).next().is_none()
}

/// The link to a company's page.
const LINK: &str = r#"a[href*="/company/"]"#;
/// No cell is taken to be wider.
const MAX_WIDTH: usize = 64;

/// How many columns a cell spans.
fn width(cell: ElementRef<'_>) -> usize {
    let span = cell.attr("colspan").and_then(|span| span.trim().parse().ok());
    span.unwrap_or(1).clamp(1, MAX_WIDTH)
}

/// The cells of a row, one that spans several columns in each of them.
fn cells(row: ElementRef<'_>) -> Vec<ElementRef<'_>> {
    row.child_elements().flat_map(|cell| std::iter::repeat_n(cell, width(cell))).collect()
}

impl Columns {
    fn read(header: ElementRef<'_>) -> Result<Self, Failure> {
        let tooltips: Vec<_> = cells(header).into_iter().map(|cell| cell.attr("data-tooltip")).collect();
        let find = |wanted: &str| {
            let is_wanted = |tooltip: &&str| tooltip.trim().eq_ignore_ascii_case(wanted);
            tooltips.iter().position(|tooltip| tooltip.as_ref().is_some_and(is_wanted))
        };
        let needed = |wanted: &str| {
            find(wanted).ok_or_else(|| {
                Failure::malformed(format!("no column {wanted:?}")).with_message(unsuited(wanted))
            })
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
    format!("The screen has no column '{column}'. Add it on Screener.in.")
}

fn stock(row: ElementRef<'_>, columns: Columns) -> Result<Option<ScreenedStock>, Failure> {
    let cells = cells(row);
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
    let Some(symbol) = symbol else { return Ok(None) };
    Ok(Some(ScreenedStock { symbol, name, cmp, pe, market_cap_cr, roe }))
}

/// Symbol and name, from the link to the company's page: `/company/RELIANCE/consolidated/`. A company that the NSE does
/// not list has no symbol there: `/company/532540/` is a code of the BSE, `/company/id/1234/` a number of the site's
/// own.
fn company(row: ElementRef<'_>) -> Result<(Option<Identifier>, Line), Failure> {
    let link = row.select(&selector(LINK)).next();
    let link = link.ok_or_else(|| Failure::malformed("a row without a link to its company"))?;
    let (_, path) = link.attr("href").and_then(|href| href.split_once("/company/")).unwrap_or_default();
    let mut segments = path.split(['/', '?', '#']);
    let symbol = segments.next().unwrap_or_default();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_of_site = symbol == "id" && segments.next().is_some_and(is_number);
    let is_listed = !is_number(symbol) && !is_of_site;
    let symbol = universe::normal(&percent_decode_str(symbol).decode_utf8_lossy());
    if !is_symbol(&symbol) {
        return Err(Failure::malformed("a company whose address holds no symbol"));
    }
    let name = Line::of(&link.text().collect::<String>());
    Ok((is_listed.then(|| Identifier::of(&symbol)), name))
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
    fn a_stock_without_a_price_is_a_result_without_a_stock() {
        let rows = table(&format!("{HEADER}{}", row(1, "TCS", ["NA", "1", "2", "3"]))).unwrap();
        assert_eq!(rows, [Row { company: Identifier::of("1"), stock: None }]);
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

    #[test]
    fn what_the_nse_does_not_list_is_a_result_without_a_stock() {
        for link in ["532540", "id/1274924", "id/1274924/consolidated", "532540/"] {
            let rows = table(&format!("{HEADER}{}", row(1, link, ["1", "2", "3", "4"]))).unwrap();
            assert_eq!(rows, [Row { company: Identifier::of("1"), stock: None }], "{link}");
        }
        for (link, symbol) in [("ID", "ID"), ("id/consolidated", "ID"), ("3MINDIA", "3MINDIA")] {
            let rows = table(&format!("{HEADER}{}", row(1, link, ["1", "2", "3", "4"]))).unwrap();
            assert_eq!(rows[0].stock.as_ref().unwrap().symbol, symbol);
        }
    }

    /// The site's own columns, of which return on equity is none.
    const USUAL: &str = r#"<thead><tr><th>S.No.</th><th data-tooltip="Company" class="text">Company</th>
        <th data-tooltip="Current Price">CMP Rs.</th><th data-tooltip="Price to Earning">P/E</th>
        <th data-tooltip="Market Capitalization">Mar Cap Rs.Cr.</th><th data-tooltip="Dividend yield">Div Yld %</th>
        <th data-tooltip="Net Profit latest quarter">NP Qtr Rs.Cr.</th><th data-tooltip="YOY Quarterly profit growth">Qtr
        Profit Var %</th><th data-tooltip="Sales latest quarter">Sales Qtr Rs.Cr.</th>
        <th data-tooltip="YOY Quarterly sales growth">Qtr Sales Var %</th>
        <th data-tooltip="Return on capital employed">ROCE %</th></tr></thead>"#;

    #[test]
    fn the_sites_own_columns_suffice_and_a_wide_row_is_a_note() {
        let stock = r#"<tr data-row-company-id="42"><td class="text">1.</td><td class="text"><a href="/company/TCS/consolidated/"
            target="_blank">TCS</a></td><td>3,120.5</td><td>22.1</td><td>11,29,000</td><td>1.9</td><td>12,000</td><td>5</td>
            <td>65,000</td><td>2.4</td><td>64.6</td></tr>"#;
        let note = r#"<tr data-row-company-id="43"><td colspan="11">Upgrade to see more</td></tr>
            <tr><td colspan="11"><em>Median: 30 Co.</em></td></tr>"#;
        let rows = table(&format!("{USUAL}{note}{stock}{note}")).unwrap();
        let [Row { company, stock: Some(stock) }] = rows.as_slice() else { panic!("{rows:?}") };
        assert_eq!((company.as_str(), stock.symbol.as_str(), stock.name.as_str()), ("42", "TCS", "TCS"));
        assert_eq!(
            (stock.cmp, stock.pe, stock.market_cap_cr, stock.roe),
            (3120.5, Some(22.1), 1_129_000.0, None)
        );
    }

    #[test]
    fn a_cell_across_several_columns_moves_those_behind_it() {
        let wide = HEADER.replace("<th>S.No.</th><th>Name</th>", "<th colspan=2>Company</th>");
        let rows = table(&format!("{wide}{}", row(1, "TCS", ["1", "2", "3", "4"]))).unwrap();
        assert_eq!(rows[0].stock.as_ref().map(|it| it.market_cap_cr), Some(3.0));
        let merged = row(1, "TCS", ["1", "2", "3", "4"]).replace("<td>1.</td><td>", "<td colspan='2'>");
        let rows = table(&format!("{HEADER}{merged}")).unwrap();
        assert_eq!(rows[0].stock.as_ref().map(|it| it.cmp), Some(1.0));
    }
}
