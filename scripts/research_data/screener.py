"""Screener.in: the login page, what an anonymous visitor sees, and four screens, in pages of 25 and of 50."""

from html import escape

from .common import compact, indian
from .results import quarters
from .universe import STOCKS, eps

PAGES = (25, 50)
HEADER_EVERY = 15
SMALL = 40_000
COLUMNS = [
    ("Current Price", "CMP", "Rs."), ("Price to Earning", "P/E", ""), ("Market Capitalization", "Mar Cap", "Rs.Cr."),
    ("Dividend yield", "Div Yld", "%"), ("Net Profit latest quarter", "NP Qtr", "Rs.Cr."),
    ("YOY Quarterly profit growth", "Qtr Profit Var", "%"), ("Sales latest quarter", "Sales Qtr", "Rs.Cr."),
    ("Return on capital employed", "ROCE", "%"), ("Return on equity", "ROE", "%"),
]
# Number, slug, title, which stocks, in which order. `screen_id` of the tool maps to these by configuration.
SCREENS = {
    "default": (101, "default", "Large and steady", lambda s: True, lambda s: -s.cap),
    "value_picks": (102, "value-picks", "Value picks", lambda s: 0 < s.pe < 26 and (s.roe or 0) > 12, lambda s: s.pe),
    "small_cap": (103, "small-cap", "Small caps", lambda s: s.cap < SMALL, lambda s: s.cap),
    "momentum": (
        104, "momentum", "Price momentum",
        lambda s: s.style in ("surging", "hot", "extended", "uptrend"), lambda s: (s.style, s.symbol),
    ),
}
# As seen there: a dash, nothing, and NA where a figure is missing.
BLANKS = ["-", "", "NA"]
LOGIN = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Login - Screener</title></head>
<body class="light"><main class="flex-grow container"><div class="card">
<h1>Welcome back!</h1><p class="sub">Login to your account</p>
{notice}<form method="post" action="/login/"><input type="hidden" name="csrfmiddlewaretoken" value="{{csrf}}">
<input type="hidden" name="next" value="">
<label for="id_username">Email</label><input type="email" name="username" id="id_username" required>
<label for="id_password">Password</label><input type="password" name="password" id="id_password" required>
<button class="button-primary" type="submit">Login</button></form>
</div></main></body></html>
"""
WRONG = '<ul class="errorlist nonfield"><li>Please enter a correct email and password.</li></ul>\n'


def files():
    yield "screener/login.html", LOGIN.format(notice="")
    yield "screener/login_refused.html", LOGIN.format(notice=WRONG)
    yield "screener/anonymous.html", _page("Screener", '<h1>Get a free account to see all results</h1>\n', False)
    index = {key: {"id": number, "slug": slug, "name": name} for key, (number, slug, name, *_) in SCREENS.items()}
    yield "screener/screens.json", compact(index)
    for number, slug, name, wanted, order in SCREENS.values():
        stocks = sorted((s for s in STOCKS if wanted(s)), key=order)
        for size in PAGES:
            pages = [stocks[at:at + size] for at in range(0, len(stocks), size)]
            for at, rows in enumerate(pages):
                body = _screen(number, slug, name, rows, at * size, at, len(pages), len(stocks))
                yield f"screener/screens/{number}/{size}/{at + 1}.html", _page(f"{name} - Screener", body, True)


def _page(title, body, is_logged_in):
    account = (
        '<a class="dropdown-item" href="/user/account/">Account</a>'
        '<form action="/logout/" method="post"><button type="submit">Logout</button></form>'
        if is_logged_in
        else '<a class="button account" href="/login/?">Login</a><a class="button" href="/register/">Get free account</a>'
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title></head>\n'
        f'<body class="light"><nav class="u-full-width">{account}</nav>\n<main class="flex-grow container">\n{body}'
        "</main></body></html>\n"
    )


def _screen(number, slug, name, stocks, first, at, pages, total):
    info = f"{total} results found: Showing page {at + 1} of {pages}"
    lines = [
        f"<h1>{escape(name)}</h1>", f'<div data-page-info class="sub">{info}</div>',
        '<div class="responsive-holder fill-card-width"><table class="data-table text-nowrap striped mark-visited"><tbody>',
    ]
    for offset, stock in enumerate(stocks):
        if offset % HEADER_EVERY == 0:
            lines.append(_header())
        lines.append(_row(stock, first + offset + 1))
    lines.append("</tbody></table></div>")
    if pages > 1:
        links = " ".join(
            f'<a href="/screens/{number}/{slug}/?page={n + 1}" class="{"current" if n == at else "ink-900"}">{n + 1}</a>'
            for n in range(pages)
        )
        lines.append(f'<div class="pagination">{links}</div>')
    return "\n".join(lines) + "\n"


def _header():
    cells = '<th class="text">S.No.</th><th class="text">Name</th>'
    for tooltip, short, unit in COLUMNS:
        cells += f'<th data-tooltip="{tooltip}"><a href="?sort={escape(tooltip.lower())}">{short} <span>{unit}</span></a></th>'
    return f"<tr>{cells}</tr>"


def _row(stock, position):
    newest, *_, year_ago = quarters(stock)[:5] if len(quarters(stock)) >= 5 else [*quarters(stock)[:1], None]
    capital = _percent(stock.roe / (1 + (stock.debt or 0) / 100) * 1.3 + 2) if stock.debt is not None and stock.roe else None
    growth = (newest.profit / year_ago.profit - 1) * 100 if year_ago and year_ago.profit > 0 else None
    cells = [
        indian(f"{stock.price:.2f}"), indian(f"{stock.price / eps(stock):.2f}") if stock.pe > 0 else None,
        indian(f"{stock.cap:.2f}"), f"{stock.dividend:.2f}", indian(f"{newest.profit / 1e7:.2f}"),
        None if growth is None else _percent(growth), indian(f"{newest.revenue / 1e7:.2f}"), capital,
        None if stock.roe is None else _percent(stock.roe),
    ]
    blank = BLANKS[len(stock.symbol) % len(BLANKS)]
    cells = "".join(f"<td>{blank if cell is None else cell}</td>" for cell in cells)
    link = f'<a href="/company/{escape(stock.symbol)}/consolidated/" target="_blank">{escape(stock.name)}</a>'
    return (
        f'<tr data-row-company-id="{2000 + STOCKS.index(stock) * 13}"><td class="text">{position}.</td>'
        f'<td class="text">{link}</td>{cells}</tr>'
    )


def _percent(value):
    return f"{value:.2f}"
