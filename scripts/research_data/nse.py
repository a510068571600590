"""NSE: bulk and block deals, FII/DII, shareholding with XBRL, and the comparison of results.

The contexts of the XBRL are named as in filings since 2025, `InstitutionsForeign_ContextI` and so on.
"""

from datetime import date, timedelta
from xml.sax.saxutils import escape

from .common import TODAY, chance, compact, nse_date, trading_days
from .prices import bars
from .results import quarters
from .universe import STOCKS, shares

# Invented; as funds and brokers are called there.
CLIENTS = [
    "NORTHBANK TRADING LLP", "MERIDIAN QUANT CAPITAL LLP", "SAHYADRI SECURITIES PVT LTD", "BLUE LOTUS FUND MAURITIUS",
    "KAVERI ALTERNATES FUND I", "HARBOUR POINT EMERGING MARKETS FUND", "DECCAN MUTUAL FUND", "ARAVALLI INSURANCE CO LTD",
    "TUNGABHADRA BROKING LTD", "GOLDEN MANGO HOLDINGS", "WESTGHAT ARBITRAGE LLP", "INDUS VALLEY PENSION FUND",
    "CORAL BAY PARTNERS FUND", "RAMANUJAN RESEARCH CAPITAL LLP",
]
BULK = {
    "YESBANK": 7, "IDEA": 6, "ETERNAL": 4, "MEESHO": 6, "CERA": 2, "GRAVITA": 4, "TIPSMUSIC": 3, "SHARDACROP": 3, "CDSL": 5,
    "IRCTC": 2, "KPITTECH": 2, "INDUSINDBK": 4, "M&MFIN": 3, "HDBFS": 3, "TATAMOTORS": 2, "DIXON": 3,
}
# More than the 70 rows at which the JSON is silently cut.
MANY = ("SUZLON", 84)
BLOCK = {"RELIANCE": 2, "HDFCBANK": 2, "TATAMOTORS": 2, "INFY": 1, "M&M": 1, "BAJAJ-AUTO": 1, "ETERNAL": 2, "ITC": 2}

QUARTERS = [date(2025, 12, 31), date(2025, 9, 30)]
# The reference figures: 20.12, 7.92 and 3.99 % of 960,519,420 shares.
REFERENCE = {"fii": 193_216_542, "dii": 76_058_990, "funds": 38_316_284}
# The same company a quarter before: institutions do not turn a holding round in three months.
REFERENCE_BEFORE = {"fii": 191_143_407, "dii": 77_412_865, "funds": 38_871_902}
NAMESPACES = (
    'xmlns:xbrli="http://www.xbrl.org/2003/instance" xmlns:xbrldi="http://xbrl.org/2006/xbrldi" '
    'xmlns:in-bse-shp="http://www.bseindia.com/xbrl/shp/2025-10-31/in-bse-shp"'
)


def files():
    yield "nse/bulk_deals.json", compact({"data": _deals("bulk", {**BULK, MANY[0]: MANY[1]})})
    yield "nse/block_deals.json", compact({"data": _deals("block", BLOCK)})
    yield "nse/fiidiiTradeReact.json", compact(_flows())
    for number, stock in enumerate(STOCKS):
        filed = [(end, _filing(stock, number, end), _holdings(stock, end)) for end in _reported(stock)]
        yield f"nse/shareholdings/{stock.symbol}.json", compact([_master(stock, *row) for row in filed])
        for end, (record, file), holdings in filed:
            yield f"nse/xbrl/{file}", _xbrl(stock, end, holdings)
        yield f"nse/results/{stock.symbol}.json", compact(_results(stock))


def _deals(kind, counts):
    rows = [row for stock in STOCKS for row in _of_stock(kind, stock, counts.get(stock.symbol, 0))]
    rows.sort(key=lambda row: row[0], reverse=True)
    return [row for _, row in rows]


def _of_stock(kind, stock, count):
    rng = chance("deals", kind, stock.symbol)
    # The busy stock is dealt in within the last month, so that the usual look-back meets the cut.
    first = TODAY - timedelta(days=26 if count > 70 else 58)
    days = [bar for bar in bars(stock) if first <= bar.day < TODAY]
    least = 0.0005 if kind == "block" else 0.005
    for _ in range(count):
        bar = days[rng.randrange(len(days))]
        quantity = int(shares(stock) * least * (1 + rng.random())) if stock.cap < 400_000 else 1_500_000
        price = round(bar.low + (bar.high - bar.low) * rng.random(), 2)
        at = rng.randrange(len(CLIENTS))
        if kind == "block":
            # One side sells what the other buys.
            other = (at + 1 + rng.randrange(len(CLIENTS) - 1)) % len(CLIENTS)
            yield bar.day, _deal(stock, bar.day, CLIENTS[at], "BUY", quantity, price)
            yield bar.day, _deal(stock, bar.day, CLIENTS[other], "SELL", quantity, price)
        else:
            side = "BUY" if rng.random() < 0.55 else "SELL"
            yield bar.day, _deal(stock, bar.day, CLIENTS[at], side, quantity, price)


def _deal(stock, day, client, side, quantity, price):
    return {
        "BD_DT_DATE": nse_date(day), "BD_SYMBOL": stock.symbol, "BD_SCRIP_NAME": f"{stock.name} Limited",
        "BD_CLIENT_NAME": client, "BD_BUY_SELL": side, "BD_QTY_TRD": quantity, "BD_TP_WATP": price, "BD_REMARKS": None,
    }


def _flows():
    """Of the day before: today's come in the evening. One number is a string, as it happens there."""
    day = nse_date(trading_days()[-2], upper=False)
    return [
        {"category": "DII", "date": day, "buyValue": "17284.31", "sellValue": "12065.47", "netValue": "5218.84"},
        {"category": "FII/FPI", "date": day, "buyValue": 11432.18, "sellValue": 16213.42, "netValue": -4781.24},
    ]


def _reported(stock):
    """A company that was listed this quarter has reported once."""
    return QUARTERS[:1] if stock.symbol == "MEESHO" else QUARTERS


def _filing(stock, number, end):
    record = 190_400 + number * 7 + (end.month == 12) * 9_000
    return record, f"SHP_{record}_{end.day:02d}{end.month:02d}{end.year}_WEB.xml"


def _holdings(stock, end):
    """Numbers of shares by category."""
    total = shares(stock)
    rng = chance("holdings", stock.symbol)
    open_part = 1 - stock.promoters / 100
    part = {
        "promoters": stock.promoters / 100, "fii": open_part * (0.18 + 0.24 * rng.random()),
        "dii": open_part * (0.22 + 0.22 * rng.random()),
    }
    part["funds"] = part["dii"] * (0.45 + 0.2 * rng.random())
    if end != QUARTERS[0]:
        for who in ("fii", "dii"):
            part[who] += open_part * 0.03 * (rng.random() - 0.5)
    counted = {who: int(total * value) for who, value in part.items()}
    if stock.symbol == "ASIANPAINT":
        counted.update(REFERENCE if end == QUARTERS[0] else REFERENCE_BEFORE)
    counted["total"] = total
    counted["public"] = total - counted["promoters"]
    counted["others"] = counted["public"] - counted["fii"] - counted["dii"]
    return counted


def _master(stock, end, filing, holdings):
    record, file = filing
    sent = end + timedelta(days=9)
    promoters = 100 * holdings["promoters"] / holdings["total"]
    return {
        "broadcastDate": f"{nse_date(sent)} 17:42:11", "date": nse_date(end), "employeeTrusts": "0",
        "name": f"{stock.name} Limited", "pr_and_prgrp": f"{promoters:.2f}", "public_val": f"{100 - promoters:.2f}",
        "recordId": str(record), "remarksWeb": None, "revisedData": "N", "revisedStatus": None, "revisionDate": None,
        "submissionDate": nse_date(sent), "symbol": stock.symbol, "systemDate": f"{nse_date(sent)} 17:42:13",
        "underlyingDrs": None, "xbrl": f"https://nsearchives.nseindia.com/corporate/xbrl/{file}",
    }


def _xbrl(stock, end, holdings):
    categories = [
        ("ShareholdingPattern", "total"), ("ShareholdingOfPromoterAndPromoterGroup", "promoters"),
        ("PublicShareholding", "public"), ("InstitutionsDomestic", "dii"), ("MutualFundsOrUTI", "funds"),
        ("InstitutionsForeign", "fii"), ("NonInstitutions", "others"),
    ]
    period = f"<xbrli:period><xbrli:instant>{end}</xbrli:instant></xbrli:period>"
    who = f'<xbrli:identifier scheme="http://www.nseindia.com/NSESymbol">{escape(stock.symbol)}</xbrli:identifier>'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>', f"<xbrli:xbrl {NAMESPACES}>",
        f'<xbrli:context id="MainI"><xbrli:entity>{who}</xbrli:entity>{period}</xbrli:context>',
    ]
    for name, _ in categories:
        lines.append(
            f'<xbrli:context id="{name}_ContextI"><xbrli:entity>{who}<xbrli:segment><xbrldi:explicitMember '
            f'dimension="in-bse-shp:CategoryOfShareholdersAxis">in-bse-shp:{name}Member</xbrldi:explicitMember>'
            f"</xbrli:segment></xbrli:entity>{period}</xbrli:context>"
        )
    lines.append('<xbrli:unit id="shares"><xbrli:measure>xbrli:shares</xbrli:measure></xbrli:unit>')
    lines.append(_fact("Symbol", "MainI", escape(stock.symbol)))
    lines.append(_fact("DateOfReport", "MainI", end))
    for name, key in categories:
        lines.append(_fact("NumberOfShares", f"{name}_ContextI", holdings[key], "shares", 0))
    lines.append("</xbrli:xbrl>\n")
    return "\n".join(lines)


def _fact(name, context, value, unit=None, decimals=None):
    attributes = f' unitRef="{unit}" decimals="{decimals}"' if unit else ""
    return f'<in-bse-shp:{name} contextRef="{context}"{attributes}>{value}</in-bse-shp:{name}>'


def _results(stock):
    return {
        "bankNonBnking": "B" if "Bank" in stock.industry else "N",
        "resCmpData": [
            {
                "re_from_dt": nse_date(_first_day(quarter.end)), "re_to_dt": nse_date(quarter.end),
                "re_net_sale": str(quarter.revenue // 100_000), "re_net_profit": str(quarter.profit // 100_000),
                "re_basic_eps_for_cont_dic_opr": f"{quarter.eps:.2f}", "re_res_type": "U" if quarter.end.month != 3 else "A",
                "re_create_dt": nse_date(quarter.end + timedelta(days=16)),
            }
            for quarter in quarters(stock)[:5]
        ],
    }


def _first_day(end):
    return date(end.year, end.month - 2, 1)
