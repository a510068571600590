//! An error of a transport in words for operators, without addresses, which may be secrets.

use std::error::Error;

use super::bounds::MAX_LOG_LINE;
use toolwire_base::words::visible;
use toolwire_providers::cut;

/// The root cause, which is the most specific.
pub(crate) fn words(error: &(dyn Error + 'static)) -> String {
    let mut last = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    cut(&visible(&last.to_string()), MAX_LOG_LINE)
}
