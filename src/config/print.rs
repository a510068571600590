//! The effective configuration as TOML: each value with where it comes from, secrets hidden.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{AuthUser, Config, Origins, Screen, Telemetry, auth::HIDDEN, setting};

/// The configuration as TOML that, tokens aside, is understood as a file of settings again.
pub fn print(config: &Config, origins: &Origins) -> String {
    let mut text = String::new();
    settings(&mut text, &values(config), origins);
    for user in &config.auth.users {
        table(&mut text, "[[auth.users]]");
        self::user(&mut text, user);
    }
    for screen in &config.upstreams.screener.screens {
        table(&mut text, "[[sources.screener.screens]]");
        self::screen(&mut text, screen);
    }
    credentials(&mut text, config);
    for (name, keys) in config.profiles.tables() {
        table(&mut text, &format!("[{name}]"));
        for (key, value) in keys {
            // The JSON of numbers, flags and lists of texts is TOML too.
            push(&mut text, &format!("{key} = {value}"));
        }
    }
    telemetry(&mut text, config);
    text
}

/// Every setting that is a single value.
pub(super) fn values(config: &Config) -> Value {
    let Config { server, data, upstreams, log, admin, .. } = config;
    json!({"server": server, "data": data, "sources": upstreams, "log": log, "admin": admin})
}

fn settings(text: &mut String, values: &Value, origins: &Origins) {
    let mut current = "";
    for setting in setting::all() {
        let (section, name) = setting.key.rsplit_once('.').unwrap_or(("", setting.key));
        if section != current {
            table(text, &format!("[{section}]"));
            current = section;
        }
        let value = values.pointer(&format!("/{}", setting.key.replace('.', "/"))).unwrap_or(&Value::Null);
        // TOML has no null.
        let line = if value.is_null() { format!("# {name} =") } else { format!("{name} = {value}") };
        let ways = setting.flag.into_iter().chain([setting.variable]).collect::<Vec<_>>().join(", ");
        line_with(text, &line, &format!("{} ({ways})", origins.origin(setting.key)));
    }
}

fn user(text: &mut String, user: &AuthUser) {
    let tools: Vec<_> = user.tools.iter().map(super::ToolPattern::as_str).collect();
    let pairs = [
        ("user_id", Some(json!(user.user_id.as_str()))),
        ("email", user.email.as_ref().map(|email| json!(email))),
        ("role", user.role.as_ref().map(|role| json!(role))),
        ("token", Some(json!(HIDDEN))),
        ("tools", Some(json!(tools))),
    ];
    for (name, value) in pairs {
        if let Some(value) = value {
            // The JSON of texts and lists of texts is TOML too.
            push(text, &format!("{name} = {value}"));
        }
    }
}

fn screen(text: &mut String, screen: &Screen) {
    let Screen { user_id, screen_id, path } = screen;
    for (name, value) in [("user_id", user_id.as_str()), ("screen_id", screen_id), ("path", path)] {
        push(text, &format!("{name} = {}", json!(value)));
    }
}

/// What stands in variables only is no part of a file of settings.
fn credentials(text: &mut String, config: &Config) {
    let shown = config.upstreams.credentials.shown();
    let gap = if shown.is_empty() { "" } else { "\n" };
    text.push_str(gap);
    for (name, value) in shown {
        push(text, &format!("# {name} = {}", json!(value)));
    }
}

fn telemetry(text: &mut String, config: &Config) {
    let state = |is_on| if is_on { "on" } else { "off" };
    let Telemetry { otlp, otlp_metrics, service_name } = &config.telemetry;
    let (traces, metrics) = (state(*otlp), state(*otlp_metrics));
    let what = format!("Traces over OTLP are {traces}, metrics {metrics}, for the service {service_name:?}");
    push(text, &format!("\n# {what} (OTEL_* variables)"));
}

fn table(text: &mut String, header: &str) {
    let gap = if text.is_empty() { "" } else { "\n" };
    push(text, &format!("{gap}{header}"));
}

fn line_with(text: &mut String, line: &str, comment: &str) {
    push(text, &format!("{line:<36} # {comment}"));
}

fn push(text: &mut String, line: &str) {
    let _ = writeln!(text, "{line}");
}
