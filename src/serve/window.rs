//! Change windows: the times of a week at which devices may be changed.

use jiff::Timestamp;
use jiff::civil::{Time, Weekday};
use jiff::tz::TimeZone;

/// A change window, such as `Mon-Fri 22:00-04:00`. A window that ends before it begins ends on the next
/// day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChangeWindow {
    /// The days on which it begins, Monday first.
    days: [bool; 7],
    from: Time,
    to: Time,
}

/// A text that is no change window.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not of the form `Mon-Fri 22:00-04:00`")]
pub(crate) struct WindowSyntaxError(String);

const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

impl std::str::FromStr for ChangeWindow {
    type Err = WindowSyntaxError;

    fn from_str(text: &str) -> Result<Self, WindowSyntaxError> {
        parse(text).ok_or_else(|| WindowSyntaxError(text.to_owned()))
    }
}

impl std::fmt::Display for ChangeWindow {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let days: Vec<&str> = (0..7)
            .filter(|day| self.days[*day])
            .map(|day| DAYS[day])
            .collect();
        let (from, to) = (self.from.strftime("%H:%M"), self.to.strftime("%H:%M"));
        match days.len() {
            7 => write!(formatter, "{from}-{to}"),
            _ => write!(formatter, "{} {from}-{to}", days.join(",")),
        }
    }
}

fn parse(text: &str) -> Option<ChangeWindow> {
    let (days, times) = match text.trim().rsplit_once(' ') {
        Some((days, times)) => (parse_days(days.trim())?, times),
        None => ([true; 7], text.trim()),
    };
    let (from, to) = times.split_once('-')?;
    let (from, to) = (parse_time(from)?, parse_time(to)?);
    (from != to).then_some(ChangeWindow { days, from, to })
}

fn parse_time(text: &str) -> Option<Time> {
    match text {
        // The end of a day is the beginning of the next one.
        "24:00" => Some(Time::midnight()),
        _ => Time::strptime("%H:%M", text).ok(),
    }
}

fn parse_days(text: &str) -> Option<[bool; 7]> {
    let day = |name: &str| DAYS.iter().position(|day| day.eq_ignore_ascii_case(name));
    let mut days = [false; 7];
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (mut at, last) = (day(first.trim())?, day(last.trim())?);
        days[at] = true;
        while at != last {
            at = (at + 1) % 7;
            days[at] = true;
        }
    }
    Some(days)
}

impl ChangeWindow {
    /// Whether the window includes this time.
    pub(crate) fn includes(&self, time: Timestamp, zone: &TimeZone) -> bool {
        let local = zone.to_datetime(time);
        let begins_on = |day: Weekday| self.days[usize::from(day.to_monday_zero_offset() as u8)];
        let (now, today) = (local.time(), local.weekday());
        if self.from < self.to {
            begins_on(today) && self.from <= now && now < self.to
        } else {
            (begins_on(today) && now >= self.from) || (begins_on(today.previous()) && now < self.to)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn includes(window: &str, time: &str) -> bool {
        let window: ChangeWindow = window.parse().unwrap();
        let zone = TimeZone::get("Europe/Berlin").unwrap();
        window.includes(time.parse().unwrap(), &zone)
    }

    #[test]
    fn window_of_one_day() {
        // 2026-11-24 is a Tuesday; Berlin is one hour ahead.
        for (time, expected) in [
            ("2026-11-24T07:59:59Z", false),
            ("2026-11-24T08:00:00Z", true),
            ("2026-11-24T10:59:59Z", true),
            ("2026-11-24T11:00:00Z", false),
            ("2026-11-25T08:00:00Z", false),
        ] {
            assert_eq!(includes("Tue 09:00-12:00", time), expected, "{time}");
        }
    }

    #[test]
    fn window_that_ends_on_the_next_day() {
        for (time, expected) in [
            ("2026-11-27T21:00:00Z", true),  // Friday 22:00
            ("2026-11-28T02:59:00Z", true),  // Saturday 03:59, began on Friday
            ("2026-11-28T03:00:00Z", false), // Saturday 04:00
            ("2026-11-28T21:00:00Z", false), // Saturday 22:00
            ("2026-11-23T02:00:00Z", false), // Monday 03:00, would have begun on Sunday
            ("2026-11-24T02:00:00Z", true),  // Tuesday 03:00, began on Monday
        ] {
            assert_eq!(includes("Mon-Fri 22:00-04:00", time), expected, "{time}");
        }
    }

    #[test]
    fn window_follows_the_clock_of_its_zone() {
        // The clocks of Berlin change on 2026-10-25 at 03:00.
        assert!(includes("09:00-10:00", "2026-10-24T07:30:00Z"));
        assert!(includes("09:00-10:00", "2026-10-25T08:30:00Z"));
        assert!(!includes("09:00-10:00", "2026-10-25T07:30:00Z"));
    }

    #[test]
    fn window_until_midnight_and_lists_of_days() {
        assert!(includes("Sat,Sun 20:00-24:00", "2026-11-28T22:59:00Z"));
        assert!(!includes("Sat,Sun 20:00-24:00", "2026-11-28T23:00:00Z"));
        assert!(includes("Sun-Mon 08:00-24:00", "2026-11-23T12:00:00Z"));
        assert!(!includes("Sun-Mon 08:00-24:00", "2026-11-24T12:00:00Z"));
    }

    #[test]
    fn text_of_a_window_is_parsed_again() {
        for text in ["Mon,Tue 09:00-12:00", "22:00-04:00"] {
            let window: ChangeWindow = text.parse().unwrap();
            assert_eq!(window.to_string(), text);
        }
        for text in [
            "",
            "9-12",
            "Mon 09:00",
            "Mon 09:00-09:00",
            "Foo 09:00-10:00",
            "25:00-26:00",
        ] {
            assert!(text.parse::<ChangeWindow>().is_err(), "{text}");
        }
    }
}
