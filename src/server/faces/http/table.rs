//! The table of all routes: from it come the router and the rules, so that no route is without a rule.

use std::{collections::HashMap, sync::Arc};

use axum::Router;
use http::Method;
use matchit::InsertError;

use super::route::{Handler, Http, Route, RuleByHeader};
use toolwire_transport::rules::Rule;

/// Every route, checked. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Table(Arc<Checked>);

#[derive(Debug, Default)]
struct Checked {
    paths: Vec<Path>,
    known: HashMap<&'static str, usize>,
    by_template: matchit::Router<usize>,
}

#[derive(Debug)]
struct Path {
    template: &'static str,
    methods: Vec<MethodEntry>,
    handler: Handler,
}

/// A method at a path.
#[derive(Debug)]
struct MethodEntry {
    method: Method,
    rule: Rule,
    checks_preconditions: bool,
    reads_query: bool,
    by_header: Option<RuleByHeader>,
    face: &'static str,
}

/// The route of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RouteMatch {
    /// The path with its parameters, such as `/v1/tools/{tool}`.
    pub(super) template: &'static str,
    pub(super) rule: Rule,
    pub(super) face: &'static str,
    /// Whether the same path has a GET.
    pub(super) is_readable: bool,
    /// Whether the route evaluates the preconditions of a write itself.
    pub(super) checks_preconditions: bool,
    /// Whether the route reads the query.
    pub(super) reads_query: bool,
    /// The rule of requests with a certain header, if it is another.
    pub(super) by_header: Option<RuleByHeader>,
}

/// Why a request has no route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    Path,
    /// The path has only these methods.
    Method(String),
}

/// The routes cannot be served.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteError {
    /// Two routes have one method and path.
    #[error("both {first} and {second} offer {method} {path}; rename one of the two")]
    Twice {
        method: Method,
        path: &'static str,
        /// The face that offers it.
        first: &'static str,
        /// The one that offers it too.
        second: &'static str,
    },
    /// The path is malformed or collides with another.
    #[error("{face} offers {path}, which the router refuses: {why}")]
    Path { path: &'static str, face: &'static str, why: String },
}

impl Table {
    /// The routes that faces offer, with their names.
    pub fn new(offered: impl IntoIterator<Item = (&'static str, Route)>) -> Result<Self, RouteError> {
        let mut checked = Checked::default();
        for (face, route) in offered {
            checked.at(face, &route)?.add(face, route)?;
        }
        Ok(Self(Arc::new(checked)))
    }

    pub(super) fn router(&self, http: Http) -> Router {
        let add = |router: Router<Http>, path: &Path| router.route(path.template, path.handler.clone());
        self.0.paths.iter().fold(Router::new(), add).with_state(http)
    }

    /// Finds the route of a method at a path.
    pub(super) fn find(&self, method: &Method, path: &str) -> Result<RouteMatch, Missing> {
        let matched = self.0.by_template.at(path).map_err(|_| Missing::Path)?;
        let (requested, path) = (path, &self.0.paths[*matched.value]);
        let has_verb = path.has_verb(requested);
        // GET answers HEAD, too.
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let is_match = |it: &&MethodEntry| it.method == method && (!has_verb || it.method == Method::POST);
        let entry = path.methods.iter().find(is_match);
        let &MethodEntry { rule, checks_preconditions, reads_query, by_header, face, .. } =
            entry.ok_or_else(|| Missing::Method(path.allow_header(has_verb)))?;
        let is_readable = !has_verb && path.methods.iter().any(|it| it.method == Method::GET);
        let template = path.template;
        Ok(RouteMatch { template, rule, face, is_readable, checks_preconditions, reads_query, by_header })
    }

    /// Every method, path and rule, in the order in which they were offered.
    pub fn iter(&self) -> impl Iterator<Item = (&Method, &'static str, Rule)> {
        self.0
            .paths
            .iter()
            .flat_map(|path| path.methods.iter().map(move |it| (&it.method, path.template, it.rule)))
    }
}

impl Checked {
    fn at(&mut self, face: &'static str, route: &Route) -> Result<&mut Path, RouteError> {
        let Self { paths, known, by_template } = self;
        let at = known.get(route.path).copied().unwrap_or(paths.len());
        if at == paths.len() {
            by_template.insert(route.path, at).map_err(|error| route_error(route, face, &error))?;
            known.insert(route.path, at);
            paths.push(Path { template: route.path, methods: Vec::new(), handler: Handler::new() });
        }
        Ok(&mut paths[at])
    }
}

impl Path {
    fn add(&mut self, face: &'static str, route: Route) -> Result<(), RouteError> {
        let Route { method, path, rule, checks_preconditions, reads_query, by_header, face: _, handler } =
            route;
        if let Some(first) = self.methods.iter().find(|known| known.method == method) {
            return Err(RouteError::Twice { method, path, first: first.face, second: face });
        }
        self.methods.push(MethodEntry { method, rule, checks_preconditions, reads_query, by_header, face });
        self.handler = std::mem::take(&mut self.handler).merge(handler);
        Ok(())
    }

    /// Whether a POST shares the path with other methods. Then the POST has a verb behind the last colon of its last
    /// value, and the other methods have none.
    fn is_split(&self) -> bool {
        let has_post = self.methods.iter().any(|it| it.method == Method::POST);
        has_post && self.methods.len() > 1 && self.template.ends_with('}')
    }

    /// Whether the path of a request ends with a verb.
    fn has_verb(&self, requested: &str) -> bool {
        self.is_split() && requested.rsplit('/').next().is_some_and(|last| last.contains(':'))
    }

    /// The methods, as `Allow` has them.
    fn allow_header(&self, has_verb: bool) -> String {
        let is_split = self.is_split();
        let is_allowed = |method: &&Method| !is_split || (**method == Method::POST) == has_verb;
        let methods = self.methods.iter().map(|it| &it.method);
        let mut names: Vec<_> = methods.filter(is_allowed).map(Method::as_str).collect();
        if names.contains(&"GET") {
            names.push("HEAD");
        }
        names.sort_unstable();
        names.join(", ")
    }
}

fn route_error(route: &Route, face: &'static str, error: &InsertError) -> RouteError {
    RouteError::Path { path: route.path, face, why: error.to_string() }
}

#[cfg(test)]
mod tests {
    use axum::routing::{get, post};

    use super::*;

    fn route(method: Method, path: &'static str) -> Route {
        let handler = if method == Method::GET { get(async || "") } else { post(async || "") };
        Route::new(method, path, Rule::USER, handler)
    }

    fn table(routes: Vec<Route>) -> Result<Table, RouteError> {
        Table::new(routes.into_iter().map(|route| ("toys", route)))
    }

    #[test]
    fn a_route_is_found_by_method_and_path() {
        let toy = || route(Method::GET, "/v1/toys/{toy}");
        let table = table(vec![toy(), route(Method::POST, "/v1/toys/{toy}")]).unwrap();
        for method in [Method::GET, Method::HEAD, Method::POST] {
            let found = table.find(&method, "/v1/toys/top").unwrap();
            assert_eq!((found.template, found.face), ("/v1/toys/{toy}", "toys"), "{method}");
        }
        assert_eq!(table.find(&Method::PUT, "/v1/toys/top"), Err(Missing::Method("GET, HEAD".into())));
        assert_eq!(table.find(&Method::PUT, "/v1/toys/top:spin"), Err(Missing::Method("POST".into())));
        for path in ["/v1/toys", "/v1/toys/", "/v1/toys/top/spin", "/", ""] {
            assert_eq!(table.find(&Method::GET, path), Err(Missing::Path), "{path:?}");
        }
    }

    #[test]
    fn two_routes_of_one_method_and_path_are_refused() {
        let error = table(vec![route(Method::GET, "/a"), route(Method::GET, "/a")]).unwrap_err();
        assert_eq!(error.to_string(), "both toys and toys offer GET /a; rename one of the two");
        let error = table(vec![route(Method::GET, "/a/{b}"), route(Method::POST, "/a/{c}")]).unwrap_err();
        assert!(matches!(error, RouteError::Path { path: "/a/{c}", .. }), "{error}");
    }
}
