//! Sections that domains bring.

use std::time::Duration;

use super::refused;
use crate::{Flags, Reader, Section, Setting, Value, print, testing};

/// The settings of a toy domain.
#[derive(Clone, Debug, Default, PartialEq)]
struct Shop {
    opens: Duration,
    most: Option<u32>,
    shelves: Vec<(String, f64)>,
    key: Option<String>,
}

fn shop() -> Section {
    Section::new(|reader: &mut Reader| {
        let mut shop = Shop {
            opens: reader.value(Setting::new("shop.opens", "TOOLWIRE_SHOP_OPENS"), Duration::from_hours(8)),
            most: reader.optional(Setting::new("shop.most", "TOOLWIRE_SHOP_MOST"), Some(5)),
            shelves: Vec::new(),
            key: reader.variable("TOOLWIRE_SHOP_KEY"),
        };
        for (name, mut shelf) in reader.tables("shelf") {
            let height: Option<f64> = shelf.required("height");
            if reader.end(shelf) {
                reader.show_entry(&format!("[shelf.{name}]"), &[("height", height.unwrap().to_toml())]);
                shop.shelves.push((name, height.unwrap()));
            }
        }
        shop
    })
}

#[test]
fn a_section_of_a_domain_is_read_printed_and_checked_like_our_own() {
    let file = "[shop]\nopens = '9h'\n[shelf.low]\nheight = 1\n[shelf.high]\nheight = 2.5";
    let variables = [("TOOLWIRE_SHOP_MOST", "7"), ("TOOLWIRE_SHOP_KEY", "k")];
    let first = testing::load_text(file, &variables, Flags::default(), &[shop()]).unwrap();
    let expected = Shop {
        opens: Duration::from_hours(9),
        most: Some(7),
        shelves: vec![("high".to_owned(), 2.5), ("low".to_owned(), 1.0)],
        key: Some("k".to_owned()),
    };
    assert_eq!(*first.config.part::<Shop>(), expected);
    let printed = print(&first);
    assert!(printed.contains("most = 7") && printed.contains("# TOOLWIRE_SHOP_MOST"), "{printed}");
    let second = testing::load_text(&printed, &variables[1..], Flags::default(), &[shop()]).unwrap();
    assert_eq!(*second.config.part::<Shop>(), expected, "what is printed is understood again");
    let unset = testing::load_text("", &[], Flags::default(), &[shop()]).unwrap();
    assert!(print(&unset).contains("# most = 5"), "what holds instead is shown");
    let error = refused(file, &variables, Flags::default());
    assert!(error.contains("toolwire.toml:1: shop: unknown setting"), "{error}");
    assert!(error.contains("variable TOOLWIRE_SHOP_KEY: unknown setting"), "{error}");
}

#[test]
fn two_domains_that_bring_the_same_setting_are_both_named() {
    let sections = [shop().of("corner"), shop().of("market")];
    let error = testing::load_text("", &[], Flags::default(), &sections).unwrap_err().to_string();
    for what in ["setting shop.opens", "variable TOOLWIRE_SHOP_KEY", "table shelf"] {
        let line = format!("the domain corner and the domain market: both bring the {what}");
        assert!(error.contains(&line), "{error}");
    }
    let log = Section::new(|reader: &mut Reader| {
        reader.value(Setting::new("log.format", "TOOLWIRE_FORMAT"), String::new())
    });
    let error = testing::load_text("", &[], Flags::default(), &[log.of("market")]).unwrap_err().to_string();
    assert!(
        error.contains("the domain market and the platform: both bring the setting log.format"),
        "{error}"
    );
}
