//! Every route of the HTTP listener.

use super::{
    console,
    http::{
        route::Route,
        table::{RouteError, Table},
    },
    mcp, rest,
};
use toolwire_config as config;

/// A face: the name that its records have, whether it is switched on, and its routes.
type Face = (&'static str, bool, fn() -> Vec<Route>);

/// The routes of the faces that are switched on, and those that domains offer.
pub fn table(config: &config::Http, of_domains: Vec<Route>) -> Result<Table, RouteError> {
    let faces: [Face; 3] = [
        ("rest", config.rest, rest::routes),
        ("mcp", config.mcp, mcp::routes),
        ("console", config.console, console::routes),
    ];
    let offered = faces.into_iter().filter(|(_, is_on, _)| *is_on);
    let of_faces = offered.flat_map(|(name, _, routes)| routes().into_iter().map(move |route| (name, route)));
    let of_domains = of_domains.into_iter().filter(|route| (route.face.is_on)(config));
    Table::new(of_faces.chain(of_domains.map(|route| (route.face.name, route))))
}
