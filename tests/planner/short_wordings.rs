//! Wordings of few words, and those of people who write as they speak: profit, prices, holdings, slang, short forms.

use super::wordings::check;

#[test]
fn profit_alone_is_that_of_the_portfolio() {
    let ranking: &[&str] = &["rank_portfolio"];
    check(&[
        ("pnl", ranking),
        ("my pnl", ranking),
        ("what is my pnl", ranking),
        ("show my pnl", ranking),
        ("my P&L", ranking),
        ("what's my P&L", ranking),
        ("mera pnl batao", ranking),
        ("kitna profit hua", ranking),
        ("how much profit did I make", ranking),
        ("pnl of apple", &["get_symbol_performance AAPL"]),
        ("pnl of Reliance", &["get_earnings RELIANCE"]),
        ("Am I in profit with MSFT?", &["get_symbol_performance MSFT"]),
        ("which stock has the best pnl", &["rank_portfolio best"]),
    ]);
}

#[test]
fn a_quote_or_a_rate_of_an_indian_stock_is_its_price() {
    check(&[
        ("quote for TCS", &["get_technicals TCS"]),
        ("Infosys stock quote", &["get_technicals INFY"]),
        ("quotes for TCS and Infosys", &["get_technicals TCS", "get_technicals INFY"]),
        ("how much is Reliance", &["get_technicals RELIANCE"]),
        ("how much is ITC right now?", &["get_technicals ITC"]),
        ("rate of Infosys", &["get_technicals INFY"]),
        ("Reliance ka rate kya hai", &["get_technicals RELIANCE"]),
        ("what is the Infosys stock at", &["get_technicals INFY"]),
        ("what's the most recent price of Reliance", &["get_technicals RELIANCE"]),
        ("what's the most recent price of netflix", &["get_quotes NFLX"]),
        ("quote of Apple", &["get_quotes AAPL"]),
        ("how much of Reliance do promoters own", &["get_institutional_holdings RELIANCE"]),
        ("growth rate of Infosys revenue", &["get_earnings INFY"]),
        ("What hit rate would my rules have had with Titan?", &["backtest_filter [\"TITAN\"]"]),
        ("bulk deals in TCS", &["get_insider_trading TCS"]),
    ]);
}

#[test]
fn a_name_that_is_not_known_is_looked_up_as_it_stands() {
    check(&[
        ("RSI of ACC", &["get_technicals ACC"]),
        (
            "price of Bajaj Finance and Bajaj Finserv",
            &["get_technicals BAJFINANCE", "get_technicals Bajaj Finserv"],
        ),
        (
            "price of Bajaj Finance and Bajaj Auto",
            &["get_technicals BAJFINANCE", "get_technicals BAJAJ-AUTO"],
        ),
    ]);
}

#[test]
fn what_is_held_of_a_company_is_asked_of_any_market() {
    check(&[
        ("Do I own Reliance?", &["get_positions RELIANCE"]),
        ("Do I own TCS?", &["get_positions TCS"]),
        ("do I have any Infosys?", &["get_positions INFY"]),
        ("do I have Infosys", &["get_positions INFY"]),
        ("do i have Tesla", &["get_positions TSLA"]),
        ("Do I own Nvidia?", &["get_positions NVDA"]),
        ("who owns Reliance", &["get_institutional_holdings RELIANCE"]),
        ("How much of TCS do the promoters own?", &["get_institutional_holdings TCS"]),
    ]);
}

#[test]
fn slang_and_short_forms_are_understood() {
    check(&[
        ("INFY.NS price", &["get_technicals INFY"]),
        ("RELIANCE.BO news", &["get_news RELIANCE"]),
        ("NSE:TCS ltp", &["get_technicals TCS"]),
        ("yo what's aapl at", &["get_quotes AAPL"]),
        ("wat r my positions", &["get_positions_list"]),
        ("kindly show recent deposits dude", &["get_transfers deposit"]),
        ("maine kya kharida", &["get_activity"]),
        ("aaj Reliance kitne pe hai", &["get_technicals RELIANCE"]),
        ("what is price of Reliance today", &["get_technicals RELIANCE"]),
        ("sup with my portfolio", &["get_positions_list"]),
        ("mere shares dikhao", &["get_positions_list stocks"]),
        ("r my stocks up today", &["get_performance 1D"]),
        ("posts of r/IndiaInvestments", &["browse_reddit IndiaInvestments"]),
    ]);
}

#[test]
fn a_name_of_several_words_may_lack_a_vowel_or_have_another() {
    check(&[
        ("hdfc bnk price", &["get_technicals HDFCBANK"]),
        ("tata moters technicals", &["get_technicals TATAMOTORS"]),
        ("HDFC price", &["get_technicals HDFCBANK"]),
    ]);
}

#[test]
fn a_half_of_another_subject_takes_no_name_of_the_first() {
    check(&[
        ("What is the price of TCS and who is its CEO", &["get_technicals TCS"]),
        ("my holdings and the exchange rate of USD to INR", &["get_positions_list"]),
        ("exchange rate of USD to INR", &[]),
        ("price of Infosys and book a cab", &["get_technicals INFY"]),
        ("show my trades and export them to excel", &["get_activity"]),
        ("my positions and draw a chart", &["get_positions_list"]),
        ("What is the price of TCS and what is its RSI", &["get_technicals TCS"]),
        ("price of TCS and its news", &["get_technicals TCS", "get_news TCS"]),
        ("news and RSI of TCS", &["get_news TCS", "get_technicals TCS"]),
    ]);
}

#[test]
fn either_end_of_a_ranking_may_have_a_noun_of_its_own() {
    let both: &[&str] = &["rank_portfolio best", "rank_portfolio worst"];
    check(&[
        ("biggest winner this month and biggest loser this month", both),
        ("my three best and three worst positions", both),
        ("best performing ETF and worst performing stock", both),
        ("which of my stocks rose and fell the most", both),
        ("top losers", &["rank_portfolio worst"]),
    ]);
}

#[test]
fn trades_of_a_company_are_no_quotes() {
    check(&[
        ("trades of Apple", &["get_activity AAPL"]),
        ("trades of Tesla", &["get_activity TSLA"]),
        ("what is Apple trading at", &["get_quotes AAPL"]),
    ]);
}
