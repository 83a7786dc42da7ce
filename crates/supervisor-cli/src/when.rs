//! Moments as people write them.

/// `2026-11-30 15:23:05 UTC`, by the civil-from-days rule of the proleptic Gregorian calendar.
pub(crate) fn utc(unix_seconds: u64) -> String {
    const SECONDS_A_DAY: u64 = 24 * 60 * 60;
    let (days, second) = (unix_seconds / SECONDS_A_DAY, unix_seconds % SECONDS_A_DAY);
    let (year, month, day) = civil(days);
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{:02} UTC", second % 60)
}

/// `15:23:05`, UTC, of a moment in seconds since the Unix epoch.
pub(crate) fn clock(unix_seconds: f64) -> String {
    // What is no moment becomes the nearest one.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let seconds = unix_seconds as u64;
    format!("{:02}:{:02}:{:02}", seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60)
}

/// Years begin in March, so that the leap day is their last; 400 of them have 146,097 days.
fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_shows_the_time_of_the_day() {
        assert_eq!(clock(951_782_399.9), "23:59:59");
        assert_eq!((clock(-1.0).as_str(), clock(f64::NAN).as_str()), ("00:00:00", "00:00:00"));
    }

    #[test]
    fn days_that_calendars_stumble_over() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_709_251_199, "2024-02-29 23:59:59 UTC"),
            (1_709_251_200, "2024-03-01 00:00:00 UTC"),
            (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(utc(seconds), text);
        }
    }
}
