//! A site on which something is wrong: the copy is returned in its place, and no secret leaks.

use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use wiremock::{
    Mock, ResponseTemplate,
    matchers::{body_string_contains, method, path, query_param},
};

use super::{
    super::{
        testing::{DAY, Fixture, call_of, copy, html, screen_page},
        *,
    },
    DEFAULT, symbols,
};
use toolwire_sources::upstream::http::Profile;

#[derive(Clone, Copy, Debug)]
enum Wrong {
    NoForm,
    FormForbidden,
    BadCredentials,
    NoSession,
    Anonymous,
    ToLogin,
    ToRegister,
    RegisterWall,
    Page(u16),
    Incomplete,
    Surplus,
    AnotherPage,
    TooLong,
    Layout,
    Slow,
}

impl Wrong {
    const ALL: [(Self, ErrorCode); 17] = [
        (Self::NoForm, ErrorCode::ParseError),
        (Self::FormForbidden, ErrorCode::Blocked),
        (Self::BadCredentials, ErrorCode::AuthFailed),
        (Self::NoSession, ErrorCode::ParseError),
        (Self::Anonymous, ErrorCode::AuthFailed),
        (Self::ToLogin, ErrorCode::AuthFailed),
        (Self::ToRegister, ErrorCode::AuthFailed),
        (Self::RegisterWall, ErrorCode::AuthFailed),
        (Self::Page(403), ErrorCode::Blocked),
        (Self::Page(451), ErrorCode::Blocked),
        (Self::Page(500), ErrorCode::Unavailable),
        (Self::Incomplete, ErrorCode::ParseError),
        (Self::Surplus, ErrorCode::ParseError),
        (Self::AnotherPage, ErrorCode::ParseError),
        (Self::TooLong, ErrorCode::ParseError),
        (Self::Layout, ErrorCode::ParseError),
        (Self::Slow, ErrorCode::Timeout),
    ];

    async fn fixture(self) -> Fixture {
        let only_default = |settings: &mut Settings| settings.screens.truncate(1);
        let profile = match self {
            Self::Slow => Profile { timeout: Duration::from_millis(100), ..PROFILE },
            _ => PROFILE,
        };
        let fixture = Fixture::with(only_default, profile).await;
        match self {
            Self::NoForm => return fixture.having("login/", html("<!doctype html>Just a moment…")).await,
            Self::FormForbidden => return fixture.having("login/", ResponseTemplate::new(403)).await,
            Self::BadCredentials => {
                return fixture.refusing(html("<!doctype html>Please enter a correct…")).await;
            }
            Self::NoSession => return fixture.refusing(ResponseTemplate::new(302)).await,
            _ => fixture.sign_in().await,
        }
        fixture.having(DEFAULT, self.page()).await
    }

    fn page(self) -> ResponseTemplate {
        let page = |text: String| html(&text);
        match self {
            Self::Anonymous => {
                html("<!doctype html><a href='/login/'>Login</a><table class=data-table></table>")
            }
            Self::ToLogin => ResponseTemplate::new(302).append_header("location", "/login/?next=/screens/"),
            Self::ToRegister => {
                ResponseTemplate::new(302).append_header("location", "/register/?next=/screens/")
            }
            Self::RegisterWall => html(
                "<!doctype html><title>Register - Screener</title><h1>Get a free account</h1>\
                 <form action='/register/' method='post'><input name=email></form>",
            ),
            Self::Page(status) => ResponseTemplate::new(status),
            Self::Incomplete => page(screen_page(&["TCS"], 0, 2, 1, 1)),
            Self::Surplus => page(screen_page(&["TCS"], 0, 1, 1, 1).replace("</table>", &again())),
            Self::AnotherPage => page(screen_page(&["TCS"], 0, 1, 2, 2)),
            Self::TooLong => page(screen_page(&["TCS"], 0, 4000, 1, 80)),
            Self::Layout => page(screen_page(&["TCS"], 0, 1, 1, 1).replace("Current Price", "Price")),
            _ => page(screen_page(&["TCS"], 0, 1, 1, 1)).set_delay(Duration::from_mins(1)),
        }
    }
}

/// A second company beside the one result that was announced.
fn again() -> String {
    let another = screen_page(&["INFY"], 7, 1, 1, 1);
    another.split_once("</th></tr>").map(|(_, row)| row.to_owned()).unwrap()
}

impl Fixture {
    async fn having(self, at: &str, answer: ResponseTemplate) -> Self {
        self.get(at, answer).await;
        self
    }

    async fn refusing(self, answer: ResponseTemplate) -> Self {
        self.login_form().await;
        self.post_login(answer).await;
        self
    }
}

#[tokio::test]
async fn whatever_fails_the_copy_is_returned_and_says_so_and_without_one_the_failure() {
    for (wrong, code) in Wrong::ALL {
        let fixture = wrong.fixture().await;
        fixture.screens.put("demo", "default", copy(2 * DAY));
        let kept = fixture.screener.browse("default", Refresh::IfStale, &call_of("demo")).await.unwrap();
        assert_eq!(symbols(&kept), ["OLD"], "{wrong:?}");
        assert!(matches!(kept.freshness, Freshness::Kept(age) if age >= 2 * DAY), "{wrong:?}");
        let [warning] = kept.warnings.as_slice() else { panic!("{wrong:?}: {:?}", kept.warnings) };
        assert!(
            warning.starts_with("This is the copy of 2") && warning.contains(code.into_str()),
            "{wrong:?}: {warning}"
        );

        let error =
            fixture.screener.browse("default", Refresh::IfStale, &call_of("riley")).await.unwrap_err();
        assert_eq!(error.code, code, "{wrong:?}: {error}");
    }
}

/// Signs in every visitor with the right password.
async fn site_of_one_word() -> Fixture {
    let fixture = Fixture::with(|settings| settings.demo = None, PROFILE).await;
    fixture.login_form().await;
    let refusing = Mock::given(method("POST")).and(body_string_contains("wrong-word"));
    refusing.respond_with(html("<!doctype html>Please enter a correct…")).mount(&fixture.site).await;
    fixture.sign_in().await;
    fixture.screen(DEFAULT, &[&["TCS"]]).await;
    fixture
}

#[tokio::test]
async fn after_a_wrong_password_the_right_one_works_at_once() {
    let fixture = site_of_one_word().await;
    let demo = "demo".parse().unwrap();
    let browse = async || fixture.screener.browse("default", Refresh::IfStale, &call_of("demo")).await;
    fixture.credentials.set(&demo, None, Login::new("demo-name", "wrong-word"));
    let error = browse().await.unwrap_err();
    assert_eq!(error.code, ErrorCode::AuthFailed, "{error}");
    assert!(!fixture.screens.is_spent("demo"), "a failed login does not spend the day");

    let asked = fixture.requests().await.len();
    let again = browse().await.unwrap_err();
    assert_eq!(again.code, ErrorCode::AuthFailed);
    assert!(again.message.contains("refused these credentials") && again.retry_after.is_some(), "{again}");
    assert_eq!(fixture.requests().await.len(), asked, "the same word is not tried again");

    fixture.credentials.set(&demo, None, Login::new("demo-name", "right-word"));
    assert_eq!(symbols(&browse().await.unwrap()), ["TCS"]);
    assert!(fixture.screens.is_spent("demo"));
}

/// Keeps whatever is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn neither_credentials_nor_cookies_are_logged_or_told() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let _subscriber = toolwire_base::capture::capture(subscriber);
    // The first one only makes every place that logs known: one that another test met first, on a thread without a
    // subscriber, would be silent here until the interest of all is asked for again.
    for wrong in [Wrong::Incomplete, Wrong::BadCredentials, Wrong::Anonymous, Wrong::Incomplete] {
        tracing::callsite::rebuild_interest_cache();
        let fixture = wrong.fixture().await;
        let error = fixture.screener.browse("default", Refresh::IfStale, &call_of("demo")).await.unwrap_err();
        let told = format!("{error:?} {:?}", fixture.screener);
        assert!(!told.contains("s3cret-word") && !told.contains("riley@example.com"), "{told}");
    }
    let logged = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(logged.contains("source failed"), "{logged}");
    for secret in ["s3cret-word", "riley@example.com", "riley%40", "sessionid=s1", "csrftoken=first"] {
        assert!(!logged.contains(secret), "{secret} is in {logged}");
    }
}

#[tokio::test]
async fn a_screen_ends_where_its_pages_repeat() {
    let page = |symbols: &[&str], first, total, number, pages| {
        html(&screen_page(symbols, first, total, number, pages))
    };
    // A stock left the screen while it was read: the last page comes once more.
    let shrunk = [page(&["TCS"], 0, 3, 1, 3), page(&["INFY"], 100, 3, 2, 3), page(&["INFY"], 100, 2, 2, 2)];
    // The site truncates its lists.
    let cut = [page(&["TCS"], 0, 3, 1, 3), page(&["TCS"], 0, 3, 2, 3), page(&["TCS"], 0, 3, 3, 3)];
    for (answers, expected, warning, requests) in
        [(shrunk, vec!["TCS", "INFY"], None, 3), (cut, vec!["TCS"], Some("2 of 3 results of"), 2)]
    {
        let fixture = Fixture::with(|settings| settings.screens.truncate(1), PROFILE).await;
        fixture.sign_in().await;
        for (index, answer) in answers.into_iter().enumerate() {
            let given = Mock::given(method("GET")).and(path(format!("/screener/{DEFAULT}")));
            let given = given.and(query_param("page", (index + 1).to_string()));
            given.respond_with(answer).mount(&fixture.site).await;
        }
        let browsed = fixture.screener.browse("default", Refresh::IfStale, &call_of("demo")).await.unwrap();
        assert_eq!(symbols(&browsed), expected);
        assert_eq!(browsed.warnings.first().map(|it| &it[..17]), warning, "{:?}", browsed.warnings);
        assert_eq!(fixture.requests().await.len() - 2, requests);
    }
}

#[tokio::test]
async fn the_charset_of_the_header_counts_and_what_is_left_out_is_counted() {
    let fixture = Fixture::with(|settings| settings.screens.truncate(1), PROFILE).await;
    fixture.sign_in().await;
    let text =
        screen_page(&["NESTLEIND", "532540", "id/77"], 0, 3, 1, 1).replace("NESTLEIND\n", "Nestl\u{e9}\n");
    let latin: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let answer = ResponseTemplate::new(200).set_body_raw(latin, "text/html; charset=ISO-8859-1");
    fixture.get(DEFAULT, answer).await;
    let browsed = fixture.screener.browse("default", Refresh::IfStale, &call_of("demo")).await.unwrap();
    assert_eq!(symbols(&browsed), ["NESTLEIND"]);
    assert_eq!(browsed.copy.stocks[0].name, "Nestl\u{e9} Limited");
    assert!(browsed.warnings[0].starts_with("2 of 3 results of the screen default are left out"));
}
