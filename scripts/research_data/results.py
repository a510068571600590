"""Quarterly results of a stock, in rupees, so that Yahoo, NSE and Screener tell one story."""

from collections import namedtuple
from datetime import date
from functools import lru_cache

from .common import chance, noise
from .universe import eps, shares

Quarter = namedtuple("Quarter", "end revenue profit eps estimate")

# Ends of the last quarters, newest first. Only the earliest reporters have published the newest.
ENDS = [date.fromisoformat(d) for d in """
    2025-12-31 2025-09-30 2025-06-30 2025-03-31 2024-12-31 2024-09-30 2024-06-30 2024-03-31 2023-12-31 2023-09-30
""".split()]
EARLY = {"TCS", "INFY", "HCLTECH", "HDBFS", "TATAELXSI"}
MARGIN = {
    "Technology": 0.17, "Financial Services": 0.22, "Energy": 0.09, "Consumer Cyclical": 0.085, "Healthcare": 0.18,
    "Consumer Defensive": 0.16, "Basic Materials": 0.10, "Industrials": 0.12, "Utilities": 0.23,
    "Communication Services": 0.14,
}
SEASON = {3: 1.06, 6: 0.97, 9: 0.98, 12: 1.01}


def newest_end(stock):
    return ENDS[0] if stock.symbol in EARLY else ENDS[1]


@lru_cache(maxsize=None)
def quarters(stock):
    """Newest first. The profits of the newest four add up to the earnings per share that the P/E tells."""
    rng = chance("results", stock.symbol)
    ends = [end for end in ENDS if end <= newest_end(stock)]
    growth = 0.012 + 0.02 * rng.random()
    weights = [(1 - growth) ** age * SEASON[end.month] * (1 + 0.02 * noise(rng)) for age, end in enumerate(ends)]
    year_profit = eps(stock) * shares(stock)
    year_revenue = abs(year_profit) / MARGIN[stock.sector]
    rows = []
    for end, weight in zip(ends, weights):
        share = weight / sum(weights[:4])
        profit = year_profit * share * (1 + 0.05 * noise(rng) if len(rows) >= 4 else 1)
        per_share = round(profit / shares(stock), 2)
        estimate = round(per_share * (1 + 0.04 * noise(rng)), 2)
        rows.append(Quarter(end, _lakhs(year_revenue * share), _lakhs(profit), per_share, estimate))
    # A new company has published little.
    return rows[:3] if stock.style == "short" else rows


def trailing_eps(stock):
    return round(eps(stock), 2)


def _lakhs(rupees):
    """Companies publish in lakh."""
    return int(round(rupees / 100_000)) * 100_000
