"""Yahoo Finance: charts, quoteSummary, and the timeseries that needs no crumb."""

from datetime import datetime, time, timezone, timedelta

from .common import IST, RECORDED_AT, chance, compact, epoch, noise
from .prices import bars
from .results import quarters, trailing_eps
from .universe import STOCKS, book_value, shares

# One stock has bars that are null, as Yahoo has on days it lost.
NULL_BARS = {"COALINDIA": (31, 207, 208, 455)}
SPLITS = {"CAMS": ("2025-12-05", 5, 1)}
# Numbers as objects, a market capitalisation that is missing, fields that are {} or "Infinity": all of it is seen there.
WRAPPED = {"HAVELLS", "CIPLA", "POWERGRID"}
WITHOUT_CAP = {"SHARDACROP", "JSWSTEEL"}


def files():
    for stock in STOCKS:
        name = f"{stock.symbol}.NS.json"
        yield f"yahoo/chart/{name}", compact(_chart(stock))
        yield f"yahoo/quoteSummary/{name}", compact(_summary(stock))
        yield f"yahoo/timeseries/{name}", compact(_timeseries(stock))


def _opening(day):
    return epoch(datetime.combine(day, time(9, 15), IST))


def _chart(stock):
    rows = bars(stock)
    gone = NULL_BARS.get(stock.symbol, ())
    dividends = _dividends(stock, rows)
    adjusted = _adjusted(rows, dividends)

    def column(values):
        return [None if at in gone else value for at, value in enumerate(values)]

    result = {
        "meta": _meta(stock, rows),
        "timestamp": [_opening(row.day) for row in rows],
        "indicators": {
            "quote": [{
                field: column([getattr(row, field) for row in rows])
                for field in ("open", "high", "low", "close", "volume")
            }],
            "adjclose": [{"adjclose": column(adjusted)}],
        },
    }
    events = _events(stock, dividends)
    if events:
        result["events"] = events
    return {"chart": {"result": [result], "error": None}}


def _meta(stock, rows):
    year = _last_year(rows)
    last, before_last = rows[-1], rows[-2]
    start = _opening(last.day)
    period = {"timezone": "IST", "start": start, "end": epoch(RECORDED_AT), "gmtoffset": 19800}
    return {
        "currency": "INR", "symbol": f"{stock.symbol}.NS", "exchangeName": "NSI", "fullExchangeName": "NSE",
        "instrumentType": "EQUITY", "firstTradeDate": _opening(rows[0].day), "regularMarketTime": epoch(RECORDED_AT),
        "hasPrePostMarketData": False, "gmtoffset": 19800, "timezone": "IST", "exchangeTimezoneName": "Asia/Kolkata",
        "regularMarketPrice": last.close, "fiftyTwoWeekHigh": max(row.high for row in year),
        "fiftyTwoWeekLow": min(row.low for row in year), "regularMarketDayHigh": last.high,
        "regularMarketDayLow": last.low, "regularMarketVolume": last.volume, "longName": f"{stock.name} Limited",
        "shortName": f"{stock.name.upper()} LTD"[:30], "chartPreviousClose": rows[0].open,
        "previousClose": before_last.close, "priceHint": 2,
        "currentTradingPeriod": {
            "pre": {**period, "end": start}, "regular": period, "post": {**period, "start": epoch(RECORDED_AT)},
        },
        "dataGranularity": "1d", "range": "2y",
        "validRanges": ["1d", "5d", "1mo", "3mo", "6mo", "1y", "2y", "5y", "10y", "ytd", "max"],
    }


def _last_year(rows):
    return [row for row in rows if row.day > RECORDED_AT.date() - timedelta(days=365)]


def _dividends(stock, rows):
    """One a year, in the summer: the day and the amount."""
    if not stock.dividend or len(rows) < 200:
        return []
    rng = chance("dividends", stock.symbol)
    amount = stock.price * stock.dividend / 100
    paid = []
    for year, part in ((2024, 0.9), (2025, 1.0)):
        summer = [row.day for row in rows if row.day.year == year and 6 <= row.day.month <= 8]
        paid.append((summer[rng.randrange(len(summer))], round(amount * part, 2)))
    return paid


def _adjusted(rows, dividends):
    close_of = {row.day: row.close for row in rows}
    factors = [(day, 1 - amount / close_of[day]) for day, amount in dividends]
    adjusted = []
    for row in rows:
        value = row.close
        for day, factor in factors:
            value = value * factor if row.day < day else value
        adjusted.append(round(value, 2))
    return adjusted


def _events(stock, dividends):
    events = {}
    if dividends:
        events["dividends"] = {
            str(_opening(day)): {"amount": amount, "date": _opening(day)} for day, amount in dividends
        }
    if stock.symbol in SPLITS:
        day, new, old = SPLITS[stock.symbol]
        at = _opening(datetime.fromisoformat(day).date())
        events["splits"] = {str(at): {"date": at, "numerator": new, "denominator": old, "splitRatio": f"{new}:{old}"}}
    return events


def _summary(stock):
    modules = {
        "assetProfile": _profile(stock), "summaryDetail": _detail(stock), "defaultKeyStatistics": _statistics(stock),
        "financialData": _financials(stock), "earnings": _earnings(stock),
    }
    if stock.symbol in WRAPPED:
        modules = {
            name: _wrapped(module) if name in ("summaryDetail", "defaultKeyStatistics", "financialData") else module
            for name, module in modules.items()
        }
    return {"quoteSummary": {"result": [modules], "error": None}}


def _wrapped(module):
    return {key: _wrap(value) for key, value in module.items()}


def _wrap(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    if abs(value) >= 1_000_000:
        return {"raw": value, "fmt": f"{value / 1e9:.2f}B", "longFmt": f"{value:,}"}
    return {"raw": value, "fmt": f"{value:.2f}"}


def _profile(stock):
    rng = chance("profile", stock.symbol)
    return {
        "address1": "Registered Office", "city": "Mumbai", "country": "India", "industry": stock.industry,
        "sector": stock.sector, "fullTimeEmployees": 1000 + rng.randrange(90_000),
        "longBusinessSummary": f"{stock.name} Limited, together with its subsidiaries, works in "
        f"{stock.industry.lower()} in India and internationally. This profile is a reconstruction.",
        "companyOfficers": [], "maxAge": 86400,
    }


def _detail(stock):
    rows = bars(stock)
    closes, year = [row.close for row in rows], _last_year(rows)
    last = rows[-1]
    detail = {
        "maxAge": 1, "priceHint": 2, "previousClose": closes[-2], "open": last.open, "dayLow": last.low,
        "dayHigh": last.high, "regularMarketPreviousClose": closes[-2], "volume": last.volume,
        "averageVolume": sum(row.volume for row in rows[-63:]) // len(rows[-63:]),
        "marketCap": int(stock.price * shares(stock)), "fiftyTwoWeekLow": min(row.low for row in year),
        "fiftyTwoWeekHigh": max(row.high for row in year), "currency": "INR", "tradeable": False,
    }
    if len(closes) >= 50:
        detail["fiftyDayAverage"] = round(sum(closes[-50:]) / 50, 3)
    if len(closes) >= 200:
        detail["twoHundredDayAverage"] = round(sum(closes[-200:]) / 200, 4)
    if stock.pe > 0:
        detail["trailingPE"] = round(stock.price / trailing_eps(stock), 6)
        detail["forwardPE"] = round(stock.price / (trailing_eps(stock) * 1.12), 6)
    elif stock.symbol == "IDEA":
        detail["forwardPE"] = "Infinity"
    if stock.dividend:
        detail["dividendRate"] = round(stock.price * stock.dividend / 100, 2)
        detail["dividendYield"] = round(stock.dividend / 100, 4)
        detail["payoutRatio"] = round(min(0.98, stock.dividend / 100 * stock.pe), 4)
    else:
        detail["dividendRate"] = {}
    if stock.symbol in WITHOUT_CAP:
        del detail["marketCap"]
    return detail


def _statistics(stock):
    rng = chance("statistics", stock.symbol)
    value = round(book_value(stock), 3)
    statistics = {
        "maxAge": 1, "priceHint": 2, "enterpriseValue": int(stock.price * shares(stock) * (1 + (stock.debt or 0) / 900)),
        "profitMargins": round(_year(stock, "profit") / _year(stock, "revenue"), 5), "floatShares":
        int(shares(stock) * (1 - stock.promoters / 100)), "sharesOutstanding": shares(stock),
        "heldPercentInsiders": round(stock.promoters / 100, 5),
        "heldPercentInstitutions": round((100 - stock.promoters) * 0.006, 5), "beta": round(0.8 + 0.25 * noise(rng), 3),
        "bookValue": value, "trailingEps": trailing_eps(stock), "forwardEps": round(trailing_eps(stock) * 1.12, 2),
        "netIncomeToCommon": _year(stock, "profit"), "lastFiscalYearEnd": 1743379200, "mostRecentQuarter":
        epoch(datetime.combine(quarters(stock)[0].end, time(), timezone.utc)),
    }
    if value > 0:
        statistics["priceToBook"] = round(stock.price / value, 6)
    if stock.pe > 0:
        statistics["forwardPE"] = round(stock.price / (trailing_eps(stock) * 1.12), 6)
    if stock.symbol in SPLITS:
        day, new, old = SPLITS[stock.symbol]
        statistics["lastSplitFactor"] = f"{new}:{old}"
        statistics["lastSplitDate"] = epoch(datetime.fromisoformat(day).replace(tzinfo=timezone.utc))
    return statistics


def _financials(stock):
    rng = chance("financials", stock.symbol)
    equity = book_value(stock) * shares(stock)
    financials = {
        "maxAge": 86400, "currentPrice": stock.price, "targetMeanPrice": round(stock.price * (1.08 + 0.06 * noise(rng)), 2),
        "recommendationKey": ["hold", "buy", "buy", "underperform"][rng.randrange(4)],
        "numberOfAnalystOpinions": 4 + rng.randrange(34), "totalRevenue": _year(stock, "revenue"),
        "profitMargins": round(_year(stock, "profit") / _year(stock, "revenue"), 5),
        "revenueGrowth": round(0.05 + 0.1 * rng.random(), 3), "financialCurrency": "INR",
    }
    if stock.roe is not None:
        financials["returnOnEquity"] = round(stock.roe / 100, 5)
        financials["returnOnAssets"] = round(stock.roe / 100 / (1.6 + (stock.debt or 500) / 100), 5)
    if stock.debt is not None:
        financials["debtToEquity"] = stock.debt
        financials["totalDebt"] = int(equity * stock.debt / 100)
    return financials


def _year(stock, field):
    found = [getattr(quarter, field) for quarter in quarters(stock)[:4]]
    return sum(found) * 4 // len(found)


def _earnings(stock):
    newest_last = list(reversed(quarters(stock)[:4]))
    chart = [{"date": _name(q.end), "actual": q.eps, "estimate": q.estimate} for q in newest_last]
    # Nobody estimated the oldest one of a company that was not listed yet.
    if stock.style == "short":
        del chart[0]["estimate"]
    return {
        "maxAge": 86400, "earningsChart": {"quarterly": chart, "earningsDate": []},
        "financialsChart": {
            "yearly": [],
            "quarterly": [{"date": _name(q.end), "revenue": q.revenue, "earnings": q.profit} for q in newest_last],
        },
        "financialCurrency": "INR",
    }


def _name(end):
    return f"{(end.month + 2) // 3}Q{end.year}"


def _timeseries(stock):
    oldest_first = list(reversed(quarters(stock)))
    table = {
        "quarterlyTotalRevenue": [(q.end, q.revenue) for q in oldest_first],
        "quarterlyNetIncome": [(q.end, q.profit) for q in oldest_first],
        "quarterlyDilutedEPS": [(q.end, q.eps) for q in oldest_first],
    }
    if stock.style != "short" and stock.roe is not None:
        table.update(_balance(stock))
    if stock.symbol == "TITAN":
        # A hole in the series is null there.
        table["quarterlyDilutedEPS"][2] = (oldest_first[2].end, None)
    return {"timeseries": {"result": [_series(stock, kind, rows) for kind, rows in table.items()], "error": None}}


def _balance(stock):
    """From which the return on capital employed follows; lenders do not publish it."""
    end = datetime(2025, 3, 31).date()
    equity = book_value(stock) * shares(stock)
    table = {"annualStockholdersEquity": int(equity), "annualNetIncome": _year(stock, "profit")}
    if stock.debt is not None:
        debt, liabilities = equity * stock.debt / 100, equity * 0.4
        table["annualEBIT"] = int(_year(stock, "profit") * 1.36)
        table["annualTotalDebt"] = int(debt)
        table["annualTotalAssets"] = int(equity + debt + liabilities)
        table["annualCurrentLiabilities"] = int(liabilities)
    return {kind: [(end, value)] for kind, value in table.items()}


def _series(stock, kind, rows):
    stamps = [epoch(datetime.combine(row[0], time(), timezone.utc)) for row in rows]
    period = "3M" if kind.startswith("quarterly") else "12M"
    return {
        "meta": {"symbol": [f"{stock.symbol}.NS"], "type": [kind]}, "timestamp": stamps,
        kind: [
            row[1] and {
                "asOfDate": row[0].isoformat(), "periodType": period, "currencyCode": "INR",
                "reportedValue": {"raw": row[1], "fmt": _short(row[1])},
            }
            for row in rows
        ],
    }


def _short(value):
    return f"{value / 1e9:.2f}B" if abs(value) >= 1e9 else f"{value:.2f}"
