"""The stocks. Names and sectors are those of real companies; every number is invented.

A row: symbol, name, sector, industry, price, market capitalisation (crore), P/E (negative: a loss), ROE %, debt to equity %
(None for lenders), dividend yield %, style of the price's path (see prices.py), promoters %.
"""

from collections import namedtuple

Stock = namedtuple(
    "Stock",
    "symbol name sector industry price cap pe roe debt dividend style promoters",
)

FIN, TECH, ENERGY, AUTO = "Financial Services", "Technology", "Energy", "Consumer Cyclical"
STAPLES, HEALTH, METALS, MAKERS = "Consumer Defensive", "Healthcare", "Basic Materials", "Industrials"
UTILITIES, MEDIA = "Utilities", "Communication Services"

STOCKS = [
    Stock(*row)
    for row in [
        ("RELIANCE", "Reliance Industries", ENERGY, "Oil & Gas Refining & Marketing", 1458.60, 1973800, 24.1, 8.9, 36.4, 0.38, "ordinary", 50.1),
        ("TCS", "Tata Consultancy Services", TECH, "Information Technology Services", 3206.40, 1160100, 22.6, 51.2, 10.1, 1.90, "downtrend", 71.8),
        ("INFY", "Infosys", TECH, "Information Technology Services", 1622.30, 673900, 23.8, 29.1, 8.9, 2.65, "ordinary", 14.6),
        ("HDFCBANK", "HDFC Bank", FIN, "Banks - Regional", 928.15, 1427600, 19.6, 14.2, None, 1.19, "ordinary", 0.0),
        ("ICICIBANK", "ICICI Bank", FIN, "Banks - Regional", 1411.20, 1009300, 19.2, 17.9, None, 0.78, "uptrend", 0.0),
        ("SBIN", "State Bank of India", FIN, "Banks - Regional", 1042.35, 962100, 11.9, 17.4, None, 1.53, "surging", 55.5),
        ("ITC", "ITC", STAPLES, "Tobacco", 332.40, 416300, 20.6, 27.9, 0.4, 4.32, "falling", 0.0),
        ("TATAMOTORS", "Tata Motors", AUTO, "Auto Manufacturers", 689.25, 253700, 12.4, 22.3, 58.2, 0.87, "ordinary", 42.6),
        ("BHARTIARTL", "Bharti Airtel", MEDIA, "Telecom Services", 2014.50, 1228400, 36.8, 26.4, 127.3, 0.79, "uptrend", 51.2),
        ("LT", "Larsen & Toubro", MAKERS, "Engineering & Construction", 3865.90, 531700, 33.1, 16.6, 114.8, 0.88, "ordinary", 0.0),
        ("HINDUNILVR", "Hindustan Unilever", STAPLES, "Household & Personal Products", 2358.70, 554100, 51.9, 20.7, 3.3, 1.82, "value", 61.9),
        ("KOTAKBANK", "Kotak Mahindra Bank", FIN, "Banks - Regional", 418.60, 416200, 22.2, 12.9, None, 0.12, "ordinary", 25.9),
        ("AXISBANK", "Axis Bank", FIN, "Banks - Regional", 1294.80, 401900, 15.6, 14.1, None, 0.08, "uptrend", 8.2),
        ("MARUTI", "Maruti Suzuki India", AUTO, "Auto Manufacturers", 15873.00, 499000, 34.2, 15.6, 0.1, 0.85, "extended", 58.3),
        ("M&M", "Mahindra & Mahindra", AUTO, "Auto Manufacturers", 3624.10, 450700, 30.4, 18.2, 162.0, 0.70, "ordinary", 18.4),
        ("BAJAJ-AUTO", "Bajaj Auto", AUTO, "Auto Manufacturers", 9512.50, 265800, 32.6, 23.3, 28.4, 2.21, "value", 55.0),
        ("SUNPHARMA", "Sun Pharmaceutical Industries", HEALTH, "Drug Manufacturers - Specialty & Generic", 1688.40, 405100, 38.8, 15.1, 4.8, 0.95, "falling", 54.5),
        ("TITAN", "Titan Company", AUTO, "Luxury Goods", 4168.00, 370000, 88.4, 33.1, 164.4, 0.26, "uptrend", 52.9),
        # Its shares are those of the reference figures in nse.py.
        ("ASIANPAINT", "Asian Paints", METALS, "Specialty Chemicals", 2755.20, 264642, 68.7, 19.8, 12.3, 0.91, "ordinary", 52.6),
        ("NESTLEIND", "Nestle India", STAPLES, "Packaged Foods", 1298.20, 250300, 79.1, 76.4, 29.7, 0.94, "uptrend", 62.8),
        ("ULTRACEMCO", "UltraTech Cement", METALS, "Building Materials", 12244.00, 360800, 48.2, 10.6, 33.1, 0.63, "ordinary", 59.2),
        ("WIPRO", "Wipro", TECH, "Information Technology Services", 261.85, 274500, 20.4, 16.4, 21.7, 4.21, "value", 72.7),
        ("HCLTECH", "HCL Technologies", TECH, "Information Technology Services", 1634.00, 443400, 26.3, 24.9, 9.0, 3.43, "ordinary", 60.8),
        ("TECHM", "Tech Mahindra", TECH, "Information Technology Services", 1596.30, 156400, 34.9, 16.0, 6.7, 2.82, "ordinary", 35.0),
        ("POWERGRID", "Power Grid Corporation of India", UTILITIES, "Utilities - Regulated Electric", 258.15, 240100, 15.6, 16.9, 141.0, 3.49, "falling", 51.3),
        ("COALINDIA", "Coal India", ENERGY, "Thermal Coal", 431.75, 266100, 8.6, 36.2, 9.8, 6.14, "uptrend", 63.1),
        ("TATASTEEL", "Tata Steel", METALS, "Steel", 184.60, 230400, 33.9, 7.3, 98.1, 1.95, "extended", 33.2),
        ("JSWSTEEL", "JSW Steel", METALS, "Steel", 1178.90, 288300, 46.2, 7.8, 121.7, 0.24, "uptrend", 45.3),
        ("HINDALCO", "Hindalco Industries", METALS, "Aluminum", 946.80, 212800, 12.3, 14.2, 53.9, 0.53, "surging", 34.6),
        ("ADANIENT", "Adani Enterprises", ENERGY, "Thermal Coal", 2158.40, 249100, 38.7, 14.0, 169.0, 0.06, "downtrend", 73.9),
        ("BAJFINANCE", "Bajaj Finance", FIN, "Credit Services", 951.70, 591800, 32.4, 19.1, None, 0.59, "value", 54.7),
        ("DRREDDY", "Dr. Reddy's Laboratories", HEALTH, "Drug Manufacturers - Specialty & Generic", 1198.60, 100000, 17.6, 17.8, 12.0, 0.67, "falling", 26.6),
        ("CIPLA", "Cipla", HEALTH, "Drug Manufacturers - Specialty & Generic", 1421.30, 114800, 21.2, 17.6, 1.4, 1.13, "deep", 29.2),
        ("TRENT", "Trent", AUTO, "Apparel Retail", 3986.20, 141700, 86.3, 28.6, 39.4, 0.13, "downtrend", 37.0),
        ("DMART", "Avenue Supermarts", STAPLES, "Discount Stores", 3812.00, 248100, 88.9, 12.9, 3.0, 0.0, "value", 74.6),
        ("HAVELLS", "Havells India", MAKERS, "Electrical Equipment & Parts", 1436.50, 90100, 60.7, 18.7, 3.8, 0.70, "downtrend", 59.4),
        ("DIXON", "Dixon Technologies (India)", TECH, "Consumer Electronics", 11418.00, 69200, 58.8, 33.5, 24.6, 0.07, "downtrend", 28.8),
        ("POLYCAB", "Polycab India", MAKERS, "Electrical Equipment & Parts", 7496.00, 112900, 45.6, 22.4, 1.9, 0.47, "uptrend", 63.0),
        ("PERSISTENT", "Persistent Systems", TECH, "Information Technology Services", 6337.50, 99200, 57.8, 25.9, 5.3, 0.55, "hot", 30.6),
        ("HAL", "Hindustan Aeronautics", MAKERS, "Aerospace & Defense", 4452.80, 297800, 35.3, 26.1, 0.1, 0.90, "ordinary", 71.6),
        ("BEL", "Bharat Electronics", MAKERS, "Aerospace & Defense", 411.30, 300700, 52.4, 29.3, 0.3, 0.58, "uptrend", 51.1),
        ("IRCTC", "Indian Railway Catering and Tourism Corporation", AUTO, "Travel Services", 672.40, 53800, 39.1, 37.2, 1.9, 1.19, "deep", 62.4),
        ("INDUSINDBK", "IndusInd Bank", FIN, "Banks - Regional", 892.60, 69500, -64.0, -1.6, None, 0.0, "uptrend", 15.8),
        ("M&MFIN", "Mahindra & Mahindra Financial Services", FIN, "Credit Services", 376.45, 52300, 20.4, 11.3, None, 1.73, "surging", 52.2),
        ("KPITTECH", "KPIT Technologies", TECH, "Software - Application", 1179.00, 32300, 41.4, 29.0, 12.4, 0.72, "falling", 39.4),
        ("TATAELXSI", "Tata Elxsi", TECH, "Software - Application", 5716.00, 35600, 55.2, 27.6, 6.6, 1.31, "ordinary", 43.9),
        ("CDSL", "Central Depository Services (India)", FIN, "Financial Data & Stock Exchanges", 1484.20, 31000, 64.1, 28.4, 0.1, 0.84, "value", 15.0),
        ("CAMS", "Computer Age Management Services", FIN, "Financial Data & Stock Exchanges", 742.60, 18400, 39.5, 41.8, 6.3, 1.78, "ordinary", 0.0),
        ("CERA", "Cera Sanitaryware", MAKERS, "Building Products & Equipment", 5218.00, 6730, 28.3, 18.0, 3.0, 1.25, "deep", 54.4),
        ("GRAVITA", "Gravita India", MAKERS, "Waste Management", 1832.40, 13500, 36.7, 21.5, 13.8, 0.35, "extended", 55.9),
        ("TIPSMUSIC", "Tips Music", MEDIA, "Entertainment", 548.30, 7010, 38.9, 88.0, 2.6, 2.00, "value", 64.2),
        ("SHARDACROP", "Sharda Cropchem", METALS, "Agricultural Inputs", 916.70, 8270, 18.2, 15.2, 0.5, 0.98, "uptrend", 74.8),
        ("SUZLON", "Suzlon Energy", MAKERS, "Specialty Industrial Machinery", 48.72, 66600, 21.1, 41.3, 4.7, 0.0, "falling", 11.7),
        ("YESBANK", "Yes Bank", FIN, "Banks - Regional", 22.46, 70500, 24.9, 5.9, None, 0.0, "ordinary", 0.0),
        ("IDEA", "Vodafone Idea", MEDIA, "Telecom Services", 11.18, 121100, -4.9, None, None, 0.0, "extended", 25.6),
        ("ETERNAL", "Eternal", AUTO, "Internet Retail", 287.90, 277900, 1420.0, 0.7, 10.8, 0.0, "falling", 0.0),
        # Listed not long ago: short histories.
        ("HDBFS", "HDB Financial Services", FIN, "Credit Services", 758.40, 62900, 28.8, 13.7, None, 0.26, "short", 74.2),
        ("MEESHO", "Meesho", AUTO, "Internet Retail", 172.35, 77800, -19.5, -110.0, None, 0.0, "short", 16.7),
    ]
]

BARS = {"HDBFS": 120, "MEESHO": 30}


def shares(stock):
    if stock.symbol == "ASIANPAINT":
        return 960_519_420
    return int(stock.cap * 10_000_000 / stock.price)


def eps(stock):
    return stock.price / stock.pe


def book_value(stock):
    """Per share; from the return on equity, so that both agree. Negative for a company that owes more than it has."""
    return eps(stock) / (stock.roe / 100) if stock.roe else -3.2


def as_json():
    rows = [{"symbol": s.symbol, "name": s.name, "sector": s.sector} for s in STOCKS]
    return {"recorded_at": "2026-01-16T10:00:00Z", "stocks": rows}
