//! Validates OTLP endpoints before the SDK does: its errors repeat an invalid URL together with any password in it.

use url::Url;

use crate::Environment;
use toolwire_outgoing::names_link_local_or_metadata;

/// The variables that name an endpoint.
const VARIABLES: [&str; 4] = [
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
];

/// The errors of the endpoints in the environment, each with the name of its variable.
pub(super) fn problems(environment: &Environment) -> Vec<(&'static str, &'static str)> {
    let problem = |name| Some((name, problem(environment.get(name)?)?));
    VARIABLES.into_iter().filter_map(problem).collect()
}

fn problem(endpoint: &str) -> Option<&'static str> {
    // The scheme is optional over gRPC.
    let url = if endpoint.contains("://") { endpoint.to_owned() } else { format!("http://{endpoint}") };
    match Url::parse(&url) {
        Err(_) => Some("expected an address such as http://localhost:4317"),
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            Some("an address must not hold credentials; use OTEL_EXPORTER_OTLP_HEADERS")
        }
        Ok(url) if names_link_local_or_metadata(&url) => {
            Some("an address must not be link-local or that of a metadata service")
        }
        Ok(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_an_address_without_credentials() {
        for good in
            ["http://collector:4317", "collector:4317", "https://collector/v1/traces?key=a", "[::1]:1"]
        {
            assert_eq!(problem(good), None, "{good}");
        }
        for bad in [
            "http://user:s3cret@collector:4317",
            "user:s3cret@collector",
            "http://s3cret:s3cret",
            "://",
            "169.254.169.254:4317",
        ] {
            assert!(problem(bad).is_some_and(|what| !what.contains("s3cret")), "{bad}");
        }
    }
}
