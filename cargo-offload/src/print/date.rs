//! Dates of files for people.

#![allow(clippy::disallowed_methods, reason = "reads the environment")]

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use offload_protocol::variable::SOURCE_DATE_EPOCH;

/// The modification date of `path`, as `2026-11-23` in UTC, or the day of `SOURCE_DATE_EPOCH`, so that the same
/// inputs
/// make the same bytes (<https://reproducible-builds.org/specs/source-date-epoch/>).
pub(crate) fn modification_date(path: &Path) -> Option<String> {
    let set = std::env::var(SOURCE_DATE_EPOCH).ok().and_then(|text| text.parse().ok());
    set.or_else(|| changed(path)).map(day)
}

fn changed(path: &Path) -> Option<u64> {
    let changed: SystemTime = path.metadata().ok()?.modified().ok()?;
    Some(changed.duration_since(UNIX_EPOCH).ok()?.as_secs())
}

/// The day of a time in seconds since 1970.
pub(crate) fn from_seconds(seconds: u64) -> String {
    day(seconds)
}

/// The day of the Gregorian calendar. Years start in March, so that a leap day is the last one
/// (<https://howardhinnant.github.io/date_algorithms.html#civil_from_days>).
fn day(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * march + 2) / 5 + 1;
    let (month, next) = if march < 10 { (march + 3, 0) } else { (march - 9, 1) };
    format!("{:04}-{month:02}-{of_month:02}", era * 400 + year_of_era + next)
}

#[cfg(test)]
mod tests {
    use super::day;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01"),
            (951_782_399, "2000-02-28"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_795_391_999, "2026-11-22"),
            (1_795_392_000, "2026-11-23"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(day(seconds), text);
        }
    }
}
