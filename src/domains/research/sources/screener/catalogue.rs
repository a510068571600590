//! Which screens a user has: the configured ones for all users, and above these the user's own.

use toolwire_contract::ToolError;
use toolwire_tool::context::UserId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screen {
    /// The owner; `None` for all users. A user's own stands in for the shared one of the same identifier.
    pub user: Option<UserId>,
    /// What tools call it, such as `value_picks`.
    pub screen_id: String,
    /// Its name for people; `None` for the name that the site shows.
    pub name: Option<String>,
    /// Where it is below the base address, such as `screens/102/value-picks/`.
    pub path: String,
}

impl Screen {
    /// The screens of the embedded origin: one for each id.
    pub fn embedded() -> Vec<Self> {
        let screen = |screen_id: &str, path: &str| Self {
            user: None,
            screen_id: screen_id.to_owned(),
            name: None,
            path: path.to_owned(),
        };
        vec![
            screen("default", "screens/101/default/"),
            screen("value_picks", "screens/102/value-picks/"),
            screen("small_cap", "screens/103/small-cap/"),
            screen("momentum", "screens/104/momentum/"),
        ]
    }
}

/// The user's screen of an identifier, or which there are.
pub(super) fn find<'a>(
    screens: &'a [Screen],
    user: &UserId,
    screen_id: &str,
) -> Result<&'a Screen, ToolError> {
    let mut of_user = of(screens, user);
    of_user.find(|screen| screen.screen_id == screen_id).ok_or_else(|| unknown(screens, user, screen_id))
}

/// The user's screens in the order in which one scrape fetches them: the requested one first.
pub(super) fn in_turn(screens: &[Screen], user: &UserId, first: &Screen) -> Vec<Screen> {
    let others = of(screens, user).filter(|screen| screen.screen_id != first.screen_id);
    std::iter::once(first).chain(others).cloned().collect()
}

fn of<'a>(screens: &'a [Screen], user: &UserId) -> impl Iterator<Item = &'a Screen> {
    let is_own = move |screen: &&Screen| screen.user.as_ref() == Some(user);
    let own: Vec<_> = screens.iter().filter(is_own).collect();
    let shared: Vec<_> = screens
        .iter()
        .filter(|screen| screen.user.is_none())
        .filter(|screen| !own.iter().any(|own| own.screen_id == screen.screen_id))
        .collect();
    own.into_iter().chain(shared)
}

fn unknown(screens: &[Screen], user: &UserId, screen_id: &str) -> ToolError {
    let names: Vec<_> = of(screens, user).map(|screen| screen.screen_id.as_str()).collect();
    ToolError::not_found(match names.as_slice() {
        [] => format!("The screen '{screen_id}' is not configured, nor is any other."),
        names => format!("The screen '{screen_id}' is not configured. Use one of {}.", names.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(name: &str) -> UserId {
        name.parse().unwrap()
    }

    fn screen(of: Option<&str>, screen_id: &str, path: &str) -> Screen {
        let (screen_id, path) = (screen_id.to_owned(), path.to_owned());
        Screen { user: of.map(user), screen_id, name: None, path }
    }

    #[test]
    fn a_users_own_screen_stands_in_for_everybodys_and_is_seen_by_nobody_else() {
        let screens = [
            screen(None, "default", "everybody"),
            screen(Some("riley"), "default", "riley"),
            screen(Some("riley"), "momentum", "riley"),
        ];
        assert_eq!(find(&screens, &user("riley"), "default").unwrap().path, "riley");
        assert_eq!(find(&screens, &user("demo"), "default").unwrap().path, "everybody");
        let error = find(&screens, &user("demo"), "momentum").unwrap_err();
        assert_eq!(error.message, "The screen 'momentum' is not configured. Use one of default.");
    }

    #[test]
    fn the_screen_asked_for_is_fetched_first_and_each_once() {
        let screens = Screen::embedded();
        let turn = in_turn(&screens, &user("demo"), &screens[2]);
        let ids: Vec<_> = turn.iter().map(|screen| screen.screen_id.as_str()).collect();
        assert_eq!(ids, ["small_cap", "default", "value_picks", "momentum"]);
    }

    #[test]
    fn without_any_screen_the_user_is_to_be_told() {
        let error = find(&[], &user("demo"), "default").unwrap_err();
        assert!(error.message.contains("nor is any other"), "{error}");
    }
}
