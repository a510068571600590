//! The words of the data: what the files have as strings, each with its fixed set of values.

use serde::Deserialize;
use strum::{EnumString, IntoStaticStr};

/// An enumeration whose values are words of the data.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, EnumString, IntoStaticStr)]
        #[strum(const_into_str)]
        pub enum $name {
            $($(#[$value_doc])* #[serde(rename = $word)] #[strum(serialize = $word)] $value,)*
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
    /// The kind of asset of a position.
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
