"""News: MoneyControl (ISO-8859-1), Economic Times (CDATA, entities escaped twice, "IST"), Google News by symbol."""

from datetime import datetime, timedelta, timezone
from html import escape as html_escape
from xml.sax.saxutils import escape

from . import headlines
from .common import IST, before, chance, rfc822, slug
from .prices import bars
from .universe import STOCKS

MONEYCONTROL = {
    "latestnews": ("Moneycontrol Latest News", headlines.MARKETS + headlines.ECONOMY),
    "marketreports": ("Moneycontrol Market Reports", headlines.MARKETS),
    "buzzingstocks": ("Moneycontrol Buzzing Stocks", headlines.STOCKS),
    "business": ("Moneycontrol Business News", headlines.BUSINESS),
    "economy": ("Moneycontrol Economy", headlines.ECONOMY),
    "results": ("Moneycontrol Results", headlines.RESULTS),
}
# This feed answers, but stopped long ago: what such a feed looks like.
FROZEN = ("results", datetime(2024, 4, 26, 6, 12, tzinfo=timezone.utc))
ECONOMIC_TIMES = {
    "markets/rssfeeds/1977021501.cms": ("Markets-Economic Times", headlines.MARKETS),
    "markets/stocks/rssfeeds/2146842.cms": ("Stocks-Markets-Economic Times", headlines.STOCKS),
    "news/economy/rssfeeds/1373380680.cms": ("Economy-Economic Times", headlines.ECONOMY),
}
PUBLISHERS = [("The Economic Times", "economictimes.indiatimes.com"), ("Mint", "www.livemint.com"),
              ("Business Standard", "www.business-standard.com"), ("Moneycontrol", "www.moneycontrol.com"),
              ("The Hindu BusinessLine", "www.thehindubusinessline.com")]


def files():
    for name, (title, items) in MONEYCONTROL.items():
        yield f"news/moneycontrol/{name}.xml", _moneycontrol(name, title, items).encode("iso-8859-1")
    for path, (title, items) in ECONOMIC_TIMES.items():
        yield f"news/economictimes/{path}", _economic_times(path, title, items)
    for stock in STOCKS:
        yield f"news/googlenews/{stock.symbol}.xml", _google(stock)


def _times(rng, newest, count):
    """The newest is of this day, hours before the recording; the others follow in growing steps."""
    moment, times = newest, []
    for _ in range(count):
        times.append(moment)
        moment -= timedelta(minutes=25 + rng.randrange(170), seconds=rng.randrange(60))
    return times


def _moneycontrol(name, title, items):
    rng = chance("moneycontrol", name)
    newest = FROZEN[1] if name == FROZEN[0] else before(minutes=35 + rng.randrange(80))
    lines = [
        '<?xml version="1.0" encoding="ISO-8859-1"?>', '<rss version="2.0"><channel>', f"<title>{title}</title>",
        f"<link>https://www.moneycontrol.com/rss/{name}.xml</link>", f"<description>{title}</description>",
        "<language>en-gb</language>",
    ]
    for at, ((headline, summary), moment) in enumerate(zip(items, _times(rng, newest, len(items)))):
        link = f"https://www.moneycontrol.com/news/business/{slug(headline)}-{13_780_000 + at * 17}.html"
        picture = f'<img src="https://images.moneycontrol.com/static/{at}.jpg" alt="" width="75" height="75"/> '
        lines.append(
            f"<item><title>{escape(headline)}</title><link>{link}</link><description>{escape(picture + html_escape(summary, False))}"
            f"</description><pubDate>{rfc822(moment, IST, '+0530')}</pubDate><guid>{link}</guid></item>"
        )
    return "\n".join([*lines, "</channel></rss>", ""])


def _economic_times(path, title, items):
    rng = chance("economictimes", path)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>', '<rss version="2.0"><channel>', f"<title><![CDATA[{title}]]></title>",
        f"<link>https://economictimes.indiatimes.com/{path}</link>", "<description></description>",
        "<language>en-gb</language>",
    ]
    # The same news, told by another paper in another order.
    items = list(items)
    rng.shuffle(items)
    for at, ((headline, summary), moment) in enumerate(zip(items, _times(rng, before(minutes=20 + rng.randrange(60)), len(items)))):
        link = f"https://economictimes.indiatimes.com/{slug(headline)}/articleshow/{126_400_000 + at * 911}.cms"
        # Within CDATA nothing is unescaped, and here it was escaped before.
        told = html_escape(headlines.retold(headline), False)
        picture = f'<a href="{link}"><img border="0" hspace="10" align="left" src="https://img.etimg.com/{at}.jpg" /></a>'
        # One item has neither link nor guid.
        identity = "" if at == 6 else f"<link>{link}</link><guid>{link}</guid>"
        lines.append(
            f"<item><title><![CDATA[{told}]]></title><description><![CDATA[{picture}{html_escape(summary, False)}]]></description>"
            f"{identity}<pubDate>{rfc822(moment, IST, 'IST')}</pubDate></item>"
        )
    return "\n".join([*lines, "</channel></rss>", ""])


def _google(stock):
    rng = chance("googlenews", stock.symbol)
    chosen = headlines.about(stock, bars(stock), rng)
    moment, items = before(minutes=90 + rng.randrange(600)), []
    for number, headline in enumerate(chosen):
        publisher, host = PUBLISHERS[rng.randrange(len(PUBLISHERS))]
        link = f"https://news.google.com/rss/articles/CBMi{abs(rng.randrange(16**20)):020x}?oc=5"
        title = f"{headline} - {publisher}"
        anchor = f'<a href="{link}" target="_blank">{html_escape(headline)}</a>&nbsp;&nbsp;<font color="#6f6f6f">{publisher}</font>'
        items.append(
            f"<item><title>{escape(title)}</title><link>{link}</link><guid isPermaLink=\"false\">{link[41:61]}</guid>"
            f"<pubDate>{rfc822(moment)}</pubDate><description>{escape(anchor)}</description>"
            f'<source url="https://{host}">{publisher}</source></item>'
        )
        # Some within a day, most within the week, the last ones older.
        moment -= timedelta(hours=6 + rng.randrange(30) + (96 if number >= len(chosen) - 2 else 0))
    head = (
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<rss xmlns:media="http://search.yahoo.com/mrss/" version="2.0">'
        f"<channel><generator>NFE/5.0</generator><title>{escape(stock.name)} - Google News</title>"
        f"<link>https://news.google.com/search</link><language>en-IN</language>\n"
    )
    return head + "\n".join(items) + "\n</channel></rss>\n"
