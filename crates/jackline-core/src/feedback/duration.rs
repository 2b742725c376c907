//! Durations as they are told to an agent.

const MS_PER_SECOND: i64 = 1_000;
const MS_PER_MINUTE: i64 = 60 * MS_PER_SECOND;
const MS_PER_HOUR: i64 = 60 * MS_PER_MINUTE;

/// Seconds and minutes are cut, hours have one decimal; only a single minute is singular.
pub(super) fn told(ms: i64) -> String {
    if ms < MS_PER_MINUTE {
        return format!("{} seconds", ms / MS_PER_SECOND);
    }
    if ms < MS_PER_HOUR {
        let minutes = ms / MS_PER_MINUTE;
        return format!("{minutes} minute{}", if minutes == 1 { "" } else { "s" });
    }
    format!("{:.1} hours", ms as f64 / MS_PER_HOUR as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(seconds: f64, want: &str) {
        assert_eq!(told((seconds * 1e3) as i64), want, "{seconds}");
    }

    #[test]
    fn durations_are_told_as_people_say_them() {
        check(0.0, "0 seconds");
        check(0.9, "0 seconds");
        check(1.0, "1 seconds");
        check(-5.0, "-5 seconds");
        check(59.999, "59 seconds");
        check(60.0, "1 minute");
        check(119.9, "1 minute");
        check(120.0, "2 minutes");
        check(3599.9, "59 minutes");
        check(3600.0, "1.0 hours");
        check(5400.0, "1.5 hours");
        check(86_400.0, "24.0 hours");
    }
}
