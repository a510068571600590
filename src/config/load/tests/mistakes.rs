//! Many mistakes at once: each is reported with its place, in words that a reader of the file knows.

use super::refused;
use crate::Flags;

#[test]
fn ten_mistakes_are_ten_lines_each_with_its_place_in_words_of_our_own() {
    let file = "[server]\nlisten = 50051\nreuse_port = 'maybe'\ndeadline_cap = 5\nlisen = 'x'\n\
        [server.limits]\nmax_connections = -1\nstream_window = '64KB'\n\
        [log]\nformat = 'xml'\n[[auth.users]]\nuser_id = 7\ntoken = 'x'\ntools = 'get_*'\n[datta]\ndir = 'x'";
    let error = refused(file, &[("TOOLWIRE_MAX_CONCURRENT_CALLS", "many")], Flags::default());
    let expected = [
        "toolwire.toml:5: server.lisen: unknown setting. Did you mean server.listen?",
        "toolwire.toml:15: datta: unknown setting. Did you mean data?",
        "toolwire.toml:12: auth.users.0.user_id: expected a text in quotes, but found 7",
        "toolwire.toml:14: auth.users.0.tools: expected a list such as [\"…\"], but found \"get_*\"",
        "toolwire.toml:2: server.listen: expected an address and a port such as 127.0.0.1:50051, but found 50051",
        "toolwire.toml:3: server.reuse_port: expected true or false, but found \"maybe\"",
        "toolwire.toml:4: server.deadline_cap: expected a length of time such as 500ms, 5s, 2m or 1h, but found 5",
        "toolwire.toml:7: server.limits.max_connections: expected a whole number from 0 to",
        "toolwire.toml:8: server.limits.stream_window: expected a number of bytes such as 65536, 64KiB or 1MiB",
        "toolwire.toml:10: log.format: expected one of auto, json, text, but found \"xml\"",
        "variable TOOLWIRE_MAX_CONCURRENT_CALLS: expected a whole number",
    ];
    for line in expected {
        assert!(error.contains(line), "{line:?} is not in\n{error}");
    }
    assert_eq!(error.lines().count(), expected.len(), "{error}");
}

#[test]
fn every_syntax_error_of_a_file_has_its_line() {
    let error = refused("[server]\nlisten = \n[log\nformat = 'text'\n", &[], Flags::default());
    assert!(
        error.contains("toolwire.toml:2: not valid TOML") && error.contains("toolwire.toml:3: "),
        "{error}"
    );
}

#[test]
fn what_follows_a_list_that_is_not_closed_is_no_error_of_its_own() {
    let rest =
        "may = ['call']\n\n[[auth.rules]]\nwho = ['user:riley']\ntools = ['*']\n[server]\nlisten = 'x'\n";
    for open in ["tools = ['a', 'b'\n", "tools = [\n", "tools = {a = ['b'\n", "tools = ['a',\n"] {
        let error =
            refused(&format!("[[auth.rules]]\nwho = ['user:riley']\n{open}{rest}"), &[], Flags::default());
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.contains("toolwire.toml:4: not valid TOML"), "{error}");
    }
}

#[test]
fn bounds_of_the_http_listener_under_which_nothing_could_be_served_are_refused_with_their_names() {
    let zeros =
        "[http]\nmax_connections = 0\nheader_timeout = '0s'\nidle_timeout = '0s'\nstall_timeout = '0s'\n";
    let error = refused(zeros, &[], Flags::default());
    for (at, name) in
        ["max_connections", "header_timeout", "idle_timeout", "stall_timeout"].iter().enumerate()
    {
        let line = format!("toolwire.toml:{}: http.{name}: must be more than zero", at + 2);
        assert!(error.contains(&line), "{line:?} is not in\n{error}");
    }
    assert_eq!(error.lines().count(), 4, "{error}");
    let nonsense =
        "[http]\nmax_connections = -1\nheader_timeout = 5\nidle_timeout = '-1s'\nstall_timeout = 'soon'\n";
    let error = refused(nonsense, &[], Flags::default());
    let expected = [
        "toolwire.toml:2: http.max_connections: expected a whole number from 0 to",
        "toolwire.toml:3: http.header_timeout: expected a length of time such as",
        "toolwire.toml:4: http.idle_timeout: expected a length of time such as",
        "toolwire.toml:5: http.stall_timeout: expected a length of time such as",
    ];
    for line in expected {
        assert!(error.contains(line), "{line:?} is not in\n{error}");
    }
    assert_eq!(error.lines().count(), expected.len(), "{error}");
}
