//! Declares the settings of a section as one table, and reads settings with bounds.
//!
//! An entry is the one place of its setting: `name: Type = default, "VARIABLE", "--flag", as how;`, of which flag and
//! `how` may be left out. It expands to the field with its documentation, the default, the key in the file, and the
//! code that reads it. Settings are printed in the order of their entries, and a default may refer to settings above
//! it. Not here: sections whose settings depend on more than that.

use std::{ops::RangeInclusive, time::Duration};

use super::{reader::Reader, setting::Setting, size::Size, value::Value};
use toolwire_base::duration;

/// Declares a section by the table of its settings. `how` is a function with the signature of [`Reader::value`], which
/// is the default: one of this module checks a bound, [`Reader::optional`] reads a setting that may be unset.
///
/// `of (name: Type = usual)` is an input of the defaults that is not a setting, `then` a method that checks the section
/// as a whole, and `and` lists fields that are sections of their own.
macro_rules! settings {
    (
        $(#[$attribute:meta])*
        pub struct $section:ident in $table:literal
        $(of ($given:ident: $given_type:ty = $usual:expr))? $(then $check:ident)?
        {
            $(
                $(#[$doc:meta])*
                $name:ident: $type:ty = $default:expr, $variable:literal $(, $flag:literal)? $(, as $how:expr)?;
            )*
        }
        $(and { $( $(#[$part_doc:meta])* $part:ident: $part_type:ty = $read:path; )* })?
    ) => {
        $(#[$attribute])*
        pub struct $section {
            $(
                $(#[$doc])*
                #[doc = concat!($("`", $flag, "`, ",)? "`", $variable, "`, default `", stringify!($default), "`.")]
                pub $name: $type,
            )*
            $($( $(#[$part_doc])* pub $part: $part_type, )*)?
        }

        impl Default for $section {
            fn default() -> Self {
                $( let $given: $given_type = $usual; )?
                $( let $name: $type = $default; )*
                Self { $($name,)* $($($part: Default::default(),)*)? }
            }
        }

        impl $section {
            pub(super) fn read(reader: &mut $crate::Reader $(, $given: $given_type)?) -> Self {
                $(
                    let key = concat!($table, ".", stringify!($name));
                    let setting = $crate::Setting::new(key, $variable)$(.flag($flag))?;
                    let $name: $type = settings!(@how $($how)?)(reader, setting, $default);
                )*
                Self { $($name,)* $($($part: $read(reader),)*)? }$(.$check(reader))?
            }
        }
    };
    (@how) => { $crate::Reader::value };
    (@how $how:expr) => { $how };
}

pub(super) use settings;

/// Reads a value, and reports `what` as the problem if it is not fine.
pub(super) fn check<T: Value>(
    is_fine: impl FnOnce(&T) -> bool,
    what: impl Into<String>,
) -> impl FnOnce(&mut Reader, Setting, T) -> T {
    move |reader, setting, default| {
        let key = setting.key.clone();
        let value = reader.value(setting, default);
        if !is_fine(&value) {
            reader.problem(&key, what);
        }
        value
    }
}

/// A value other than zero, with which nothing could be served.
pub(super) fn positive<T: Value + Default + PartialEq>(
    reader: &mut Reader,
    setting: Setting,
    default: T,
) -> T {
    let what = "must be more than zero: nothing could be served";
    check(|value| *value != T::default(), what)(reader, setting, default)
}

/// A number of bytes, at least one. Written as `64KiB` or `1MiB`, too.
pub(super) fn bytes<T>(reader: &mut Reader, setting: Setting, default: T) -> T
where
    T: Copy + TryFrom<u64> + TryInto<u64>,
{
    let key = setting.key.clone();
    let Size(bytes) = positive(reader, setting, Size(default.try_into().unwrap_or(u64::MAX)));
    T::try_from(bytes).unwrap_or_else(|_| {
        reader.problem(&key, format!("{bytes} bytes are too many"));
        default
    })
}

pub(super) fn within(bounds: RangeInclusive<u32>) -> impl FnOnce(&mut Reader, Setting, u32) -> u32 {
    let what = format!("must be from {} to {}", bounds.start(), bounds.end());
    check(move |value| bounds.contains(value), what)
}

pub(super) fn longer_than_zero(reader: &mut Reader, setting: Setting, default: Duration) -> Duration {
    check(|length: &Duration| !length.is_zero(), "must be longer than zero")(reader, setting, default)
}

/// A length of time that is longer than zero, and at most the longest.
pub(super) fn at_most(longest: Duration) -> impl FnOnce(&mut Reader, Setting, Duration) -> Duration {
    let what = format!("must be longer than zero and at most {}", duration::format(longest));
    check(move |length: &Duration| !length.is_zero() && *length <= longest, what)
}
