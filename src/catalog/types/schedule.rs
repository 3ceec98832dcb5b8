//! `schedule`: when resources may be applied (section 12, *Schedules*).

use std::sync::Arc;

use jiff::civil::{Date, Time, Weekday};
use jiff::{Timestamp, ToSpan, Zoned};
use switchtender_devices::model::{AttributeModel, Role, RunsOn, ValueSpec};
use switchtender_devices::value::Value;

use super::super::resource::Resource;
use super::{ResourceType, TypeBehaviour, Values, allowed, small_model};

pub(super) fn resource_type() -> ResourceType {
    let mut model = small_model(
        "schedule",
        RunsOn::Both,
        &[
            ("name", Role::Namevar),
            ("range", Role::Parameter),
            ("periodmatch", Role::Parameter),
            ("period", Role::Parameter),
            ("repeat", Role::Parameter),
            ("weekday", Role::Parameter),
        ],
    );
    let words = |names: &[&str]| -> Vec<ValueSpec> {
        names
            .iter()
            .map(|name| ValueSpec::Literal(Value::Symbol((*name).to_owned())))
            .collect()
    };
    model.attributes["period"].values = words(&["hourly", "daily", "weekly", "monthly", "never"]);
    model.attributes["periodmatch"].values = words(&["number", "distance"]);
    model.attributes["periodmatch"].default = Some(Value::Symbol("distance".to_owned()));
    model.attributes["repeat"].default = Some(1.into());
    ResourceType {
        model: Arc::new(model),
        behaviour: Arc::new(ScheduleType),
    }
}

#[derive(Debug)]
struct ScheduleType;

impl TypeBehaviour for ScheduleType {
    fn values(&self) -> Values {
        Values::Classic
    }

    fn providerless(&self) -> bool {
        true
    }

    fn munge(&self, attribute: &AttributeModel, value: &Value) -> Result<Value, String> {
        match attribute.name.as_str() {
            "range" => {
                for range in each(value) {
                    Range::parse(&range.ruby_to_s())?;
                }
            }
            "weekday" => {
                for day in each(value) {
                    weekday(&day)?;
                }
            }
            "repeat" if repeat(value).is_none() => {
                return Err(format!(
                    "Repeat must be a number greater than zero, got {}",
                    value.inspect()
                ));
            }
            _ => {}
        }
        allowed(&attribute.values, value)
    }

    fn validate(&self, resource: &Resource) -> Result<(), String> {
        Schedule::of(resource)
            .map(drop)
            .map_err(|error| error.to_string())
    }
}

/// A schedule that says whether something may be done now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    ranges: Vec<Range>,
    weekdays: Vec<Weekday>,
    period: Option<Period>,
    /// Times per period.
    repeat: i64,
    by_number: bool,
}

/// A schedule that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScheduleError(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Period {
    Hourly,
    Daily,
    Weekly,
    Monthly,
    Never,
}

impl Period {
    fn seconds(self) -> i64 {
        match self {
            Period::Hourly => 3600,
            Period::Daily => 86_400,
            Period::Weekly => 604_800,
            Period::Monthly => 2_592_000,
            Period::Never => i64::MAX,
        }
    }
}

/// When a resource that was never checked counts as checked, and how periods are counted by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbering {
    /// Whole periods differ; what was never checked is due.
    Sound,
    /// As Puppet: days of months and hours of days are compared, never is the start of 1970.
    Puppet,
}

impl Schedule {
    /// The schedule that a `schedule` resource describes.
    ///
    /// # Errors
    /// Its parameters contradict each other.
    pub fn of(resource: &Resource) -> Result<Self, ScheduleError> {
        let list = |name: &str| resource.parameter(name).map(each).unwrap_or_default();
        let word = |name: &str| resource.parameter(name).and_then(Value::as_str);
        let schedule = Self {
            ranges: list("range")
                .iter()
                .map(|range| Range::parse(&range.ruby_to_s()))
                .collect::<Result<_, _>>()
                .map_err(ScheduleError)?,
            weekdays: list("weekday")
                .iter()
                .map(weekday)
                .collect::<Result<_, _>>()
                .map_err(ScheduleError)?,
            period: match word("period") {
                Some("hourly") => Some(Period::Hourly),
                Some("daily") => Some(Period::Daily),
                Some("weekly") => Some(Period::Weekly),
                Some("monthly") => Some(Period::Monthly),
                Some("never") => Some(Period::Never),
                _ => None,
            },
            repeat: resource.parameter("repeat").and_then(repeat).unwrap_or(1),
            by_number: word("periodmatch") == Some("number"),
        };
        if schedule.by_number && schedule.repeat != 1 {
            return Err(ScheduleError(
                "Repeat must be 1 unless periodmatch is 'distance'".to_owned(),
            ));
        }
        Ok(schedule)
    }

    /// Whether a resource last checked then may be applied now.
    pub fn allows(&self, checked: Option<Timestamp>, now: &Zoned, numbering: Numbering) -> bool {
        self.in_ranges(now) && self.period_is_over(checked, now, numbering)
    }

    fn in_ranges(&self, now: &Zoned) -> bool {
        let on = |day: Date| self.weekdays.is_empty() || self.weekdays.contains(&day.weekday());
        if self.ranges.is_empty() {
            return on(now.date());
        }
        self.ranges
            .iter()
            .any(|range| range.start_day(now).is_some_and(on))
    }

    fn period_is_over(
        &self,
        checked: Option<Timestamp>,
        now: &Zoned,
        numbering: Numbering,
    ) -> bool {
        let Some(period) = self.period else {
            return true;
        };
        if period == Period::Never {
            return false;
        }
        let then = checked
            .unwrap_or(Timestamp::UNIX_EPOCH)
            .to_zoned(now.time_zone().clone());
        if !self.by_number {
            let since = now.timestamp().as_second() - then.timestamp().as_second();
            return since >= period.seconds() / self.repeat;
        }
        match numbering {
            Numbering::Sound => {
                checked.is_none()
                    || match period {
                        Period::Hourly => (now.date(), now.hour()) != (then.date(), then.hour()),
                        Period::Daily => now.date() != then.date(),
                        Period::Weekly => {
                            let week = |at: &Zoned| {
                                let week = at.date().iso_week_date();
                                (week.year(), week.week())
                            };
                            week(now) != week(&then)
                        }
                        Period::Monthly | Period::Never => {
                            (now.year(), now.month()) != (then.year(), then.month())
                        }
                    }
            }
            Numbering::Puppet => match period {
                Period::Hourly => now.hour() != then.hour(),
                Period::Daily | Period::Monthly | Period::Never => now.day() != then.day(),
                Period::Weekly => {
                    let number = |at: &Zoned| at.weekday().to_sunday_zero_offset();
                    number(now) < number(&then)
                        || now.timestamp().as_second() - then.timestamp().as_second()
                            > Period::Weekly.seconds()
                }
            },
        }
    }
}

/// A time of day to another, both inclusive; over midnight when the end is not after the start.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    start: Time,
    end: Time,
}

impl Range {
    fn parse(text: &str) -> Result<Self, String> {
        let invalid = || format!("Invalid range {}", Value::string(text).inspect());
        let (start, end) = text.split_once('-').ok_or_else(invalid)?;
        let time = |text: &str| {
            let mut parts = text.trim().split(':').map(|part| part.parse::<i8>().ok());
            let hour = parts.next()??;
            let minute = parts.next().unwrap_or(Some(0))?;
            let second = parts.next().unwrap_or(Some(0))?;
            if parts.next().is_some() {
                return None;
            }
            Time::new(hour, minute, second, 0).ok()
        };
        match (time(start), time(end)) {
            (Some(start), Some(end)) => Ok(Self { start, end }),
            _ => Err(invalid()),
        }
    }

    /// The day on which the range that holds this moment began.
    fn start_day(&self, now: &Zoned) -> Option<Date> {
        let (today, time) = (now.date(), now.time());
        if self.start < self.end {
            return (self.start <= time && time <= self.end).then_some(today);
        }
        if time >= self.start {
            return Some(today);
        }
        if time <= self.end {
            return today.checked_sub(1.day()).ok();
        }
        None
    }
}

fn each(value: &Value) -> Vec<Value> {
    match value {
        Value::List(items) => items.clone(),
        other => vec![other.clone()],
    }
}

fn repeat(value: &Value) -> Option<i64> {
    value.ruby_to_s().parse().ok().filter(|times| *times > 0)
}

/// A weekday by its name, the first three letters of it, or its number from Sunday, 0.
fn weekday(value: &Value) -> Result<Weekday, String> {
    const DAYS: [(&str, Weekday); 7] = [
        ("sunday", Weekday::Sunday),
        ("monday", Weekday::Monday),
        ("tuesday", Weekday::Tuesday),
        ("wednesday", Weekday::Wednesday),
        ("thursday", Weekday::Thursday),
        ("friday", Weekday::Friday),
        ("saturday", Weekday::Saturday),
    ];
    let text = value.ruby_to_s().to_lowercase();
    DAYS.iter()
        .enumerate()
        .find(|(number, (name, _))| {
            *name == text || name[..3] == text || number.to_string() == text
        })
        .map(|(_, (_, day))| *day)
        .ok_or_else(|| {
            format!(
                "{} is not a valid day of the week",
                Value::string(value.ruby_to_s()).inspect()
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Zoned {
        text.parse::<Timestamp>()
            .unwrap()
            .to_zoned(jiff::tz::TimeZone::UTC)
    }

    fn schedule(ranges: &[&str], days: &[&str]) -> Schedule {
        Schedule {
            ranges: ranges.iter().map(|r| Range::parse(r).unwrap()).collect(),
            weekdays: days
                .iter()
                .map(|d| weekday(&(*d).into()).unwrap())
                .collect(),
            repeat: 1,
            ..Schedule::default()
        }
    }

    #[test]
    fn ranges_are_inclusive_and_may_span_midnight() {
        let cases = [
            (vec!["12 - 13"], vec![], "2024-03-05T13:00:00Z", true),
            (vec!["12 - 13"], vec![], "2024-03-05T13:00:01Z", false),
            (
                vec!["22:00 - 04:00"],
                vec!["Monday"],
                "2024-03-05T03:00:00Z",
                true,
            ),
            (
                vec!["22:00 - 04:00"],
                vec!["Monday"],
                "2024-03-05T23:00:00Z",
                false,
            ),
            (
                vec!["1 - 2", "5:30 - 6"],
                vec![],
                "2024-03-05T05:30:00Z",
                true,
            ),
            (vec![], vec!["2"], "2024-03-05T05:30:00Z", true),
        ];
        for (ranges, days, now, expected) in cases {
            let allowed = schedule(&ranges, &days).allows(None, &at(now), Numbering::Sound);
            assert_eq!(allowed, expected, "{ranges:?} {days:?} {now}");
        }
    }

    #[test]
    fn on_the_first_of_a_month_what_was_never_checked_is_due() {
        let daily = Schedule {
            period: Some(Period::Daily),
            by_number: true,
            repeat: 1,
            ..Schedule::default()
        };
        let now = at("2024-03-01T12:00:00Z");
        assert!(daily.allows(None, &now, Numbering::Sound));
        assert!(!daily.allows(None, &now, Numbering::Puppet));
    }
}
