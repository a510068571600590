//! The words of the data: what 000 writes as strings, each with its fixed set of values.

use serde::Deserialize;

/// An enumeration whose values are words of the data.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
        pub enum $name {
            $($(#[$value_doc])* #[serde(rename = $word)] $value,)*
        }

        impl $name {
            /// Every value, in order.
            pub const ALL: &[Self] = &[$(Self::$value),*];

            pub const fn word(self) -> &'static str {
                match self { $(Self::$value => $word),* }
            }

            pub fn of(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.word() == word)
            }
        }
    };
}

words! {
    /// Which way a trade went.
    Side {
        Buy = "BUY",
        Sell = "SELL",
    }
}

words! {
    /// What kind of asset a position is.
    AssetClass {
        /// Shares of a company.
        Stocks = "stocks",
        /// Shares of an exchange-traded fund.
        Etf = "etf",
        Bonds = "bonds",
    }
}

words! {
    /// Which way money was moved.
    TransferType {
        Deposit = "deposit",
        /// Out of the account.
        Withdrawal = "withdrawal",
    }
}

words! {
    /// How money was moved.
    Method {
        /// By the clearing house.
        Ach = "ACH",
        Wire = "WIRE",
        Check = "CHECK",
    }
}

words! {
    /// How far a transfer is.
    Status {
        /// The money has arrived.
        Completed = "completed",
        /// The money is on its way.
        Pending = "pending",
        /// The money was not moved.
        Failed = "failed",
    }
}

words! {
    /// A length of time that ends with the date of the data.
    Timeframe {
        OneDay = "1D",
        OneWeek = "1W",
        OneMonth = "1M",
        ThreeMonths = "3M",
        SixMonths = "6M",
        /// Since the first of January.
        YearToDate = "YTD",
        OneYear = "1Y",
        FiveYears = "5Y",
        All = "ALL",
    }
}
