//! Screener.in.

use super::{Browser, Got, url};

async fn sign_in(browser: &Browser, password: &str) -> Got {
    let form = browser.get("screener", "login/").await;
    let html = form.text();
    let token =
        html.split("name=\"csrfmiddlewaretoken\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let fields = format!("csrfmiddlewaretoken={token}&next=&username=demo%40example.com&password={password}");
    let referer = url("screener", "login/");
    let headers = [("cookie", &*form.cookies()), ("referer", referer.as_str())];
    browser.post("screener", "login/", &fields, &headers).await
}

#[tokio::test]
async fn signing_in_gives_a_session_with_which_screens_are_seen() {
    let browser = Browser::new();
    let signed_in = sign_in(&browser, "secret").await;
    assert_eq!((signed_in.status.as_u16(), signed_in.header("location")), (302, "/dash/"));
    let cookies = signed_in.cookies();
    let headers = [("cookie", &*cookies)];
    let page = async |path: &str| browser.get_with("screener", path, &headers).await;
    let first = page("screens/101/default/").await.text();
    assert!(first.contains("href=\"/user/account/\""));
    assert!(first.contains("58 results found: Showing page 1 of 3"));
    // A header row before each 15 rows.
    assert_eq!(first.matches("data-tooltip=\"Current Price\"").count(), 2);
    assert_eq!(first.matches("data-row-company-id").count(), 25);
    assert!(first.contains("/company/M&amp;M/consolidated/"));
    assert!(page("screens/101/default/?page=2&limit=50").await.text().contains("Showing page 2 of 2"));
    assert!(page("screens/101/default/?page=9").await.text().contains("Showing page 3 of 3"));
    for path in ["screens/102/value-picks/", "screens/103/small-cap/", "screens/104/momentum/"] {
        assert!(page(path).await.text().contains("Showing page 1 of 1"), "{path}");
    }
    assert_eq!(page("screens/999/nosuch/").await.status, 404);
}

#[tokio::test]
async fn bad_credentials_get_the_form_again() {
    let browser = Browser::new();
    let refused = sign_in(&browser, "wrong").await;
    assert_eq!(refused.status, 200);
    assert!(refused.cookies().is_empty() && refused.text().contains("correct email and password"));
}

#[tokio::test]
async fn a_form_that_is_not_from_the_page_is_forbidden() {
    let browser = Browser::new();
    let got = browser.post("screener", "login/", "username=a&password=b", &[]).await;
    assert_eq!(got.status, 403);
}

#[tokio::test]
async fn without_a_session_a_screen_is_what_anybody_sees() {
    let browser = Browser::new();
    let got = browser.get_with("screener", "screens/101/default/", &[("cookie", "sessionid=old")]).await;
    assert_eq!(got.status, 200);
    assert!(!got.text().contains("/user/account/") && !got.text().contains("data-row-company-id"));
}
