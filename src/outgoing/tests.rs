//! Clients against a proxy and a server of the tests' own, with certificates of an authority of their own.

mod certificates;
mod proxies;
mod servers;
