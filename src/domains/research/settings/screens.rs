//! Users' own screens at Screener.in: in the file only, like users.

use toolwire_config::{Reader, Value};
use toolwire_tool::context::UserId;

/// The list in the file.
pub(super) const KEY: &str = "sources.screener.screens";

/// The ids of screens that `browse_screener` takes.
const IDS: [&str; 4] = ["default", "value_picks", "small_cap", "momentum"];

/// A screen of a user: `[[sources.screener.screens]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screen {
    /// The user of the screen. Required.
    pub user_id: UserId,
    /// What the tools call it: `default`, `value_picks`, `small_cap` or `momentum`. Required.
    pub screen_id: String,
    /// Where it is, below `sources.screener.base_url`, such as `screens/123456/value-picks/`. Required.
    pub path: String,
}

pub(super) fn read(reader: &mut Reader) -> Vec<Screen> {
    let mut screens: Vec<Screen> = Vec::new();
    for mut entry in reader.list(KEY) {
        let user_id = entry.required("user_id");
        let (screen_id, path) = (entry.required("screen_id"), entry.required("path"));
        if let (Some(user_id), Some(screen_id), Some(path)) = (user_id, screen_id, path) {
            let screen = Screen { user_id, screen_id, path };
            if let Some(what) = screen.problem(&screens) {
                entry.problem(what);
            }
            screens.push(screen);
        }
        reader.end(entry);
    }
    for screen in &screens {
        screen.show(reader);
    }
    screens
}

impl Screen {
    fn problem(&self, earlier: &[Self]) -> Option<String> {
        if !IDS.contains(&self.screen_id.as_str()) {
            return Some(format!("screen_id must be one of {}", IDS.join(", ")));
        }
        if earlier.iter().any(|other| (&other.user_id, &other.screen_id) == (&self.user_id, &self.screen_id))
        {
            return Some("an earlier entry is the same screen of the same user; remove one".to_owned());
        }
        (!self.has_plain_path()).then(|| {
            "path must be a plain path below sources.screener.base_url, such as screens/123456/value-picks/"
                .to_owned()
        })
    }

    fn show(&self, reader: &mut Reader) {
        let Self { user_id, screen_id, path } = self;
        let pairs =
            [("user_id", user_id.to_toml()), ("screen_id", screen_id.to_toml()), ("path", path.to_toml())];
        reader.show_entry(&format!("[[{KEY}]]"), &pairs);
    }

    /// Nothing that appending it to a base would understand as another host or a way upwards.
    fn has_plain_path(&self) -> bool {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/' | b'.');
        let is_name = |part: &str| !part.is_empty() && part.bytes().any(|byte| byte != b'.');
        let inner = self.path.strip_suffix('/').unwrap_or(&self.path);
        self.path.bytes().all(is_plain) && inner.split('/').all(is_name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(screen_id: &str, path: &str) -> Screen {
        let user_id = "riley".parse().unwrap();
        Screen { user_id, screen_id: screen_id.to_owned(), path: path.to_owned() }
    }

    #[test]
    fn a_screen_is_one_of_the_known_below_the_base() {
        let fine = [screen("default", "screens/1/a-b/"), screen("momentum", "screens/2/c_d.e")];
        assert_eq!((fine[0].problem(&[]), fine[1].problem(&fine[..1])), (None, None));
        assert!(screen("mine", "screens/1/a/").problem(&[]).is_some());
        assert!(fine[0].problem(&fine).is_some(), "it is there already");
        for bad in
            ["", "/", "/screens/1", "../x", "screens/./1", "screens//1", "https://e.com/", "a?b", "a%2f"]
        {
            assert!(screen("default", bad).problem(&[]).is_some(), "{bad}");
        }
    }
}
