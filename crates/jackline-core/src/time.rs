//! Points in time (RFC 3339, UTC, milliseconds) and durations as people write them (`10m`).

use std::fmt;

use serde::{Deserialize, Serialize};

const MS_PER_SECOND: i64 = 1_000;
const MS_PER_DAY: i64 = 86_400 * MS_PER_SECOND;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Reads an RFC 3339 time with any offset; finer fractions than milliseconds are cut.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (date, rest) = text.split_at_checked(10)?;
        let [year, month, day] = numbers(date, '-')?;
        let rest = rest.strip_prefix(['T', 't', ' '])?;
        let (clock, rest) = rest.split_at_checked(8)?;
        let [hour, minute, second] = numbers(clock, ':')?;
        let (fraction, zone) = split_fraction(rest)?;
        let days = days_from_civil(year, month, day)?;
        // A leap second is the last moment of its minute here: order is kept, and nothing else reads it.
        if hour > 23 || minute > 59 || second > 60 {
            return None;
        }
        let seconds = hour * 3600 + minute * 60 + second.min(59);
        let offset = offset_seconds(zone)?;
        Some(Self(days * MS_PER_DAY + (seconds - offset) * MS_PER_SECOND + fraction))
    }

    /// Milliseconds from `earlier` to `self`; never negative, because a clock may go backwards.
    #[must_use]
    pub fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0).max(0)
    }
}

fn numbers(text: &str, separator: char) -> Option<[i64; 3]> {
    let mut parts = text.split(separator);
    let mut next = || {
        let part = parts.next()?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok()).flatten()
    };
    Some([next()?, next()?, next()?])
}

fn split_fraction(rest: &str) -> Option<(i64, &str)> {
    let Some(digits) = rest.strip_prefix('.') else { return Some((0, rest)) };
    let end = digits.find(|c: char| !c.is_ascii_digit())?;
    let (fraction, zone) = digits.split_at(end);
    if fraction.is_empty() {
        return None;
    }
    let padded: String = fraction.chars().chain("000".chars()).take(3).collect();
    Some((padded.parse().ok()?, zone))
}

fn offset_seconds(zone: &str) -> Option<i64> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let sign = match zone.chars().next()? {
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    if hours.len() != 2 || minutes.len() != 2 {
        return None;
    }
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    (hours <= 23 && minutes <= 59).then_some(sign * (hours * 3600 + minutes * 60))
}

/// Days since 1970-01-01 of a proleptic Gregorian date.
fn days_from_civil(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

/// Fills a place with the last digits of a value.
fn write_digits(place: &mut [u8], mut value: i64) {
    for digit in place.iter_mut().rev() {
        *digit = b'0' + u8::try_from(value % 10).unwrap_or_default();
        value /= 10;
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil_from_days(self.0.div_euclid(MS_PER_DAY));
        let ms = self.0.rem_euclid(MS_PER_DAY);
        let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
        if (0..=9_999).contains(&year) {
            // Every record has several.
            let parts = [
                (0..4, year),
                (5..7, month),
                (8..10, day),
                (11..13, hour),
                (14..16, minute),
                (17..19, second),
                (20..23, ms % 1_000),
            ];
            let mut text = *b"0000-00-00T00:00:00.000Z";
            parts.into_iter().for_each(|(place, value)| write_digits(text.get_mut(place).unwrap_or_default(), value));
            return f.write_str(str::from_utf8(&text).unwrap_or_default());
        }
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1_000)
    }
}

/// A time as records and files of ours spell it, for fields that people read.
pub mod rfc3339 {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::Timestamp;

    /// Writes the time as text.
    ///
    /// # Errors
    /// What the serializer says.
    pub fn serialize<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(at)
    }

    /// Reads it back.
    ///
    /// # Errors
    /// When it is no time.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        let text = String::deserialize(deserializer)?;
        Timestamp::parse(&text).ok_or_else(|| D::Error::custom("expected an RFC 3339 time"))
    }
}

/// Reads a duration such as `90s`, `10m`, `1h30m`, `250ms` or `2d`, in milliseconds.
#[must_use]
pub fn parse_duration_ms(text: &str) -> Option<i64> {
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    let mut total: i64 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, tail) = rest.split_at(end);
        let unit_end = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(unit_end);
        let factor = match unit {
            "ms" => 1,
            "s" => MS_PER_SECOND,
            "m" => 60 * MS_PER_SECOND,
            "h" => 3_600 * MS_PER_SECOND,
            "d" => MS_PER_DAY,
            _ => return None,
        };
        total = total.checked_add(number.parse::<i64>().ok()?.checked_mul(factor)?)?;
        rest = tail;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<&str>) {
        assert_eq!(Timestamp::parse(text).map(|at| at.to_string()).as_deref(), want, "{text}");
    }

    #[test]
    fn times_read_and_print() {
        check("2026-01-01T00:00:00Z", Some("2026-01-01T00:00:00.000Z"));
        check("2026-03-01T09:09:59.999Z", Some("2026-03-01T09:09:59.999Z"));
        check("2026-03-01T09:09:59.9999999Z", Some("2026-03-01T09:09:59.999Z"));
        check("2024-02-29T23:59:60+01:30", Some("2024-02-29T22:29:59.000Z"));
        check("1969-12-31T23:59:59.5Z", Some("1969-12-31T23:59:59.500Z"));
        check("0001-01-01T00:00:00Z", Some("0001-01-01T00:00:00.000Z"));
        check("2026-02-29T00:00:00Z", None);
        check("2026-01-01T24:00:00Z", None);
        check("2026-01-01T00:00:00", None);
        check("2026-01-01", None);
        check("2026-01-01T00:00:00.Z", None);
        check("é026-01-01T00:00:00Z", None);
        check("+026-01-01T00:00:00Z", None);
    }

    #[test]
    fn durations_read() {
        assert_eq!(parse_duration_ms("30m"), Some(1_800_000));
        assert_eq!(parse_duration_ms("1h30m"), Some(5_400_000));
        assert_eq!(parse_duration_ms("250ms"), Some(250));
        assert_eq!(parse_duration_ms("10"), None);
        assert_eq!(parse_duration_ms("m"), None);
        assert_eq!(parse_duration_ms(""), None);
        assert_eq!(parse_duration_ms("99999999999999999d"), None);
    }
}
