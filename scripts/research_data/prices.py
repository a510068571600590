"""Two years of daily bars. A path is drawn again until its last indicators fit the style of the stock."""

from collections import namedtuple
from functools import lru_cache

from .common import chance, noise, trading_days
from .universe import BARS

Bar = namedtuple("Bar", "day open high low close volume")
Indicators = namedtuple("Indicators", "rsi sma50 sma200 vs50 vs200")

# Drift a day: (for so many last days, drift); the rest of the history has the last one. Then what must come out:
# RSI(14), % against SMA50, % against SMA200, each (from, to).
STYLES = {
    "ordinary": ([(500, 0.0004)], (45, 57), (-4, 4), (1, 9)),
    "uptrend": ([(120, 0.0013), (500, 0.0003)], (55, 69), (2, 9), (9, 24)),
    "extended": ([(140, 0.0035), (500, 0.0)], (60, 74), (10, 18), (41, 60)),
    "surging": ([(42, 0.0085), (500, 0.0003)], (76, 81), (16, 26), (28, 60)),
    "hot": ([(38, 0.0105), (500, 0.0005)], (83, 90), (18, 32), (30, 70)),
    "value": ([(14, -0.0045), (500, 0.0005)], (31, 39), (-7, 0), (-6, 6)),
    "falling": ([(35, -0.0035), (500, 0.0006)], (27, 38), (-13, -4), (-16, -2)),
    "deep": ([(30, -0.0065), (500, 0.0002)], (17, 28), (-18, -8), (-26, -9)),
    "downtrend": ([(180, -0.0016), (500, 0.0012)], (41, 50), (-8, 1), (-26, -9)),
    "short": ([(500, 0.0008)], (42, 62), (-99, 99), (-99, 99)),
}


@lru_cache(maxsize=None)
def bars(stock):
    days = trading_days()[-BARS.get(stock.symbol, 10_000):]
    for attempt in range(20_000):
        closes = _path(stock, len(days), attempt)
        if _fits(stock, closes):
            return _with_ranges(stock, days, closes)
    raise SystemExit(f"no path of style {stock.style} for {stock.symbol}: widen STYLES")


def _path(stock, length, attempt):
    rng = chance("path", stock.symbol, attempt)
    # Small companies move more.
    deviation = 0.0095 if stock.cap > 400_000 else 0.0125 if stock.cap > 60_000 else 0.0155
    values, value = [], 1.0
    for left in range(length, 0, -1):
        values.append(value)
        value *= 1 + _drift(stock.style, left) + deviation * noise(rng)
    scale = stock.price / values[-1]
    return [round(v * scale, 2) for v in values]


def _drift(style, left):
    for last, drift in STYLES[style][0]:
        if left <= last:
            return drift
    return 0.0


def _fits(stock, closes):
    _, rsi, vs50, vs200 = STYLES[stock.style]
    found = indicators(closes)
    within = [(found.rsi, rsi), (found.vs50, vs50), (found.vs200, vs200)]
    return all(value is None or low <= value <= high for value, (low, high) in within)


def _with_ranges(stock, days, closes):
    rng = chance("ranges", stock.symbol)
    rows, last = [], closes[0]
    normal_volume = max(40_000, int(stock.cap * 10_000_000 / stock.price * 0.0016))
    for day, close in zip(days, closes):
        open_ = round(last * (1 + 0.004 * noise(rng)), 2)
        high = round(max(open_, close) * (1 + 0.009 * rng.random()), 2)
        low = round(min(open_, close) * (1 - 0.009 * rng.random()), 2)
        moved = abs(close - last) / last
        volume = int(normal_volume * (0.55 + 0.8 * rng.random() + 18 * moved))
        rows.append(Bar(day, open_, high, low, close, volume))
        last = close
    return rows


def indicators(closes):
    """RSI(14) after Wilder, and the distances from the means of 50 and 200 days."""
    return Indicators(_rsi(closes), *_means(closes))


def _rsi(closes):
    changes = [b - a for a, b in zip(closes, closes[1:])]
    gain = sum(max(c, 0) for c in changes[:14]) / 14
    loss = sum(max(-c, 0) for c in changes[:14]) / 14
    for change in changes[14:]:
        gain = (13 * gain + max(change, 0)) / 14
        loss = (13 * loss + max(-change, 0)) / 14
    return 100 * gain / (gain + loss)


def _means(closes):
    means = [sum(closes[-n:]) / n if len(closes) >= n else None for n in (50, 200)]
    return [*means, *(None if mean is None else (closes[-1] / mean - 1) * 100 for mean in means)]
