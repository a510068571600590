//! What the variables come to, and which have no effect.

use super::*;

const ENDPOINT: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4317");

fn of(variables: &[(&str, &str)]) -> Telemetry {
    Telemetry::from_environment(&Environment::of(variables), false, false)
}

/// What is exported, whatever else.
fn on(variables: &[(&str, &str)]) -> (bool, bool) {
    let telemetry = of(variables);
    (telemetry.traces.is_some(), telemetry.metrics.is_some())
}

/// The traces of a collector that is there.
fn traces(variables: &[(&str, &str)]) -> Otlp {
    of(&[&[ENDPOINT], variables].concat()).traces.unwrap()
}

#[test]
fn an_endpoint_switches_both_on_and_the_standard_switches_off() {
    assert_eq!(of(&[]), Telemetry::default());
    assert_eq!(on(&[ENDPOINT]), (true, true));
    assert_eq!(on(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://collector:4317")]), (true, false));
    assert_eq!(on(&[("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://collector:4317")]), (false, true));
    assert_eq!(on(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")]), (false, false));
    assert_eq!(on(&[ENDPOINT, ("OTEL_SDK_DISABLED", "TRUE")]), (false, false));
    assert_eq!(on(&[ENDPOINT, ("OTEL_TRACES_EXPORTER", "none")]), (false, true));
    assert_eq!(on(&[ENDPOINT, ("OTEL_METRICS_EXPORTER", "none")]), (true, false));
    assert_eq!(on(&[ENDPOINT, ("OTEL_METRICS_EXPORTER", "prometheus")]), (true, false));
    assert_eq!(on(&[("OTEL_METRICS_EXPORTER", "prometheus, otlp")]), (false, true));
    assert_eq!(on(&[("OTEL_TRACES_EXPORTER", "OTLP")]), (true, false));
    // What is not known is passed over, as if it were not set.
    assert_eq!(on(&[ENDPOINT, ("OTEL_TRACES_EXPORTER", "console")]), (true, true));
}

#[test]
fn each_signal_has_its_own_address_protocol_and_authorities() {
    let told = of(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "https://collector:4318/otlp/"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "HTTP/protobuf"),
        ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://collector:4317"),
        ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_METRICS_HEADERS", ""),
        ("OTEL_EXPORTER_OTLP_HEADERS", "a=%31"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "2000"),
        ("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "ca.pem"),
        ("OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE", "own.pem"),
        ("OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY", "own.key"),
    ]);
    let expected = Otlp {
        protocol: Protocol::Http,
        endpoint: "https://collector:4318/otlp/v1/traces".to_owned(),
        headers: vec![("a".parse().unwrap(), "1".parse().unwrap())],
        timeout: Duration::from_secs(2),
        encrypted: true,
        ca: Some("ca.pem".into()),
        client: Some(("own.pem".into(), "own.key".into())),
    };
    let metrics = Otlp {
        protocol: Protocol::Grpc,
        endpoint: "http://collector:4317".to_owned(),
        encrypted: false,
        ca: None,
        client: None,
        ..expected.clone()
    };
    assert_eq!((told.traces, told.metrics), (Some(expected), Some(metrics)));
    assert_eq!(told.warnings, [""; 0]);
}

#[test]
fn the_audit_goes_where_its_own_variables_or_the_common_ones_say_if_the_settings_have_it_sent() {
    let audit = |variables: &[(&str, &str)]| {
        let told = Telemetry::from_environment(&Environment::of(variables), false, true);
        (told.audit.map(|it| it.endpoint), told.warnings)
    };
    let to = |endpoint: &str| (Some(endpoint.to_owned()), Vec::new());
    let own = ("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", "http://siem:4317");
    assert_eq!(audit(&[]), to("http://localhost:4317"));
    assert_eq!(audit(&[ENDPOINT]), to("http://collector:4317"));
    assert_eq!(audit(&[ENDPOINT, own]), to("http://siem:4317"));
    assert_eq!(audit(&[own, ("OTEL_SERVICE_NAME", "tools")]), to("http://siem:4317"));
    let http = [ENDPOINT, ("OTEL_EXPORTER_OTLP_LOGS_PROTOCOL", "http/protobuf")];
    assert_eq!(audit(&http), to("http://collector:4317/v1/logs"));
    assert_eq!(audit(&[("OTEL_SDK_DISABLED", "true")]), (None, Vec::new()));
    // The log is not the audit, and is sent nowhere.
    assert_eq!(audit(&[("OTEL_LOGS_EXPORTER", "none")]), to("http://localhost:4317"));
    assert_eq!(of(&[ENDPOINT]).audit, None);
}

#[test]
fn an_address_of_grpc_without_a_scheme_is_encrypted_unless_it_is_insecure() {
    let address = |variables: &[(&str, &str)]| {
        let given = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "collector:4317");
        let otlp = traces(&[&[given], variables].concat());
        (otlp.endpoint, otlp.encrypted)
    };
    assert_eq!(address(&[]), ("https://collector:4317".to_owned(), true));
    let insecure = ("OTEL_EXPORTER_OTLP_INSECURE", "True");
    assert_eq!(address(&[insecure]), ("http://collector:4317".to_owned(), false));
    assert!(address(&[insecure, ("OTEL_EXPORTER_OTLP_TRACES_INSECURE", "no")]).1, "its own counts as false");
}

#[test]
fn every_sampler_of_the_specification_is_known() {
    for (sampler, argument, by_parent, ratio) in [
        ("", "", true, 1.0),
        ("ALWAYS_ON", "", false, 1.0),
        ("always_off", "", false, 0.0),
        ("traceidratio", "0.25", false, 0.25),
        ("parentbased_always_on", "", true, 1.0),
        ("parentbased_always_off", "", true, 0.0),
        ("parentbased_traceidratio", "0", true, 0.0),
        ("parentbased_traceidratio", "", true, 1.0),
        ("traceidratio", "10%", false, 1.0),
        ("traceidratio", "1.5", false, 1.0),
        ("traceidratio", "NaN", false, 1.0),
        ("jaeger_remote", "", true, 1.0),
    ] {
        let told = of(&[ENDPOINT, ("OTEL_TRACES_SAMPLER", sampler), ("OTEL_TRACES_SAMPLER_ARG", argument)]);
        assert_eq!(told.sampling, Sampling { by_parent, ratio }, "{sampler} {argument}");
    }
}

#[test]
fn the_service_is_named_by_its_variable_or_else_among_the_attributes() {
    let attributes = ("OTEL_RESOURCE_ATTRIBUTES", "service.name=caf%C3%A9,team=a b,=v");
    let told = of(&[ENDPOINT, attributes]);
    assert_eq!(told.service_name, "café");
    let pairs = [("service.name", "café"), ("team", "a b")];
    assert_eq!(told.attributes, pairs.map(|(key, value)| (key.to_owned(), value.to_owned())));
    assert_eq!(of(&[ENDPOINT, attributes, ("OTEL_SERVICE_NAME", "tools-eu")]).service_name, "tools-eu");
}

const HTTP: Variable = ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf");
const OWN: [Variable; 3] =
    [("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "1000"), ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "1000"), ENDPOINT];

type Variable = (&'static str, &'static str);

/// A variable, its value, those that it is set beside, and the beginning of its warning.
type Case = (String, String, Vec<(String, String)>, String);

#[test]
fn a_variable_without_effect_is_one_warning() {
    for case in include_str!("tests/without_effect.jsonl").lines() {
        let (name, value, others, expected): Case = serde_json::from_str(case).unwrap();
        let others = others.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let variables: Vec<_> = others.chain([(name.as_str(), value.as_str())]).collect();
        let warnings = of(&variables).warnings;
        let [warning] = &warnings[..] else { panic!("{name}={value}: {warnings:?}") };
        assert!(warning.starts_with(&format!("{name} {expected}")), "{warning}");
        assert!(!warning.contains("secret"), "{warning}");
    }
}

#[test]
fn what_has_an_effect_is_no_warning() {
    let told = of(&[
        ENDPOINT,
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "GZIP"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Basic%20YWJj, X-Scope-OrgID = tenant-1"),
        ("OTEL_PROPAGATORS", "tracecontext"),
        ("OTEL_RESOURCE_ATTRIBUTES", "k8s.pod.name=x=y"),
        ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
        ("OTEL_TRACES_SAMPLER_ARG", "1e-2"),
        ("OTEL_SPAN_EVENT_COUNT_LIMIT", "0"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "100"),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "100"),
        ("OTEL_LOGS_EXPORTER", "none"),
        ("TOOLWIRE_LOG", "json"),
    ]);
    assert_eq!(told.warnings, [""; 0]);
    assert_eq!(told.batch, Batch { queue: 100, size: 100, ..Batch::default() });
    let scraped = Environment::of(&[("OTEL_SERVICE_NAME", "a"), ("OTEL_METRICS_EXPORTER", "prometheus")]);
    assert_eq!(Telemetry::from_environment(&scraped, true, false).warnings, [""; 0]);
}

#[test]
fn what_changes_nothing_but_is_understood_is_no_warning() {
    for (name, value) in
        [("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4317/"), ("OTEL_EXPORTER_OTLP_COMPRESSION", "none")]
    {
        assert_eq!(of(&[ENDPOINT, (name, value)]).warnings, [""; 0], "{name}={value}");
    }
}

#[test]
fn a_header_without_a_value_is_left_out() {
    let headers = traces(&[("OTEL_EXPORTER_OTLP_HEADERS", "empty=,a=1")]).headers;
    let names: Vec<_> = headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a"]);
}

/// What is read beside the variables of the exporter.
const GENERAL: [&str; 19] = [
    "OTEL_SDK_DISABLED",
    "OTEL_TRACES_EXPORTER",
    "OTEL_METRICS_EXPORTER",
    "OTEL_LOGS_EXPORTER",
    "OTEL_PROPAGATORS",
    "OTEL_SERVICE_NAME",
    "OTEL_RESOURCE_ATTRIBUTES",
    "OTEL_TRACES_SAMPLER",
    "OTEL_TRACES_SAMPLER_ARG",
    "OTEL_BSP_SCHEDULE_DELAY",
    "OTEL_BSP_MAX_QUEUE_SIZE",
    "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
    "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT",
    "OTEL_SPAN_EVENT_COUNT_LIMIT",
    "OTEL_SPAN_LINK_COUNT_LIMIT",
    "OTEL_METRIC_EXPORT_INTERVAL",
    "OTEL_METRICS_EXEMPLAR_FILTER",
    "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE",
    "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION",
];

/// What is read of the exporter, for all signals together and for each.
const OF_EXPORTER: [&str; 9] = [
    "ENDPOINT",
    "PROTOCOL",
    "HEADERS",
    "TIMEOUT",
    "COMPRESSION",
    "CERTIFICATE",
    "CLIENT_CERTIFICATE",
    "CLIENT_KEY",
    "INSECURE",
];

#[test]
fn a_variable_that_is_empty_is_not_set() {
    let of_exporter = OF_EXPORTER.iter().flat_map(|suffix| {
        ["", "TRACES_", "METRICS_", "LOGS_"].map(|signal| format!("OTEL_EXPORTER_OTLP_{signal}{suffix}"))
    });
    let names: Vec<_> = GENERAL.map(str::to_owned).into_iter().chain(of_exporter).collect();
    assert!(names.iter().all(|name| variables::variable(name).is_some()), "each is read");
    let empty: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
    assert_eq!(of(&empty), Telemetry::default());
    for others in [&[ENDPOINT][..], &[ENDPOINT, HTTP], &OWN] {
        // What is set twice has the value that comes last.
        assert_eq!(of(&[&empty[..], others].concat()), of(others), "{others:?}");
        assert_eq!(of(others).warnings, [""; 0], "{others:?}");
    }
}

#[test]
fn a_switch_that_turns_everything_off_is_one_warning_for_all_that_it_leaves_without_effect() {
    let told = of(&[ENDPOINT, ("OTEL_SDK_DISABLED", "true"), ("OTEL_BSP_MAX_QUEUE_SIZE", "100")]);
    let expected =
        "OTEL_SDK_DISABLED leaves without effect: OTEL_BSP_MAX_QUEUE_SIZE, OTEL_EXPORTER_OTLP_ENDPOINT";
    assert_eq!(told.warnings, [expected]);
}
