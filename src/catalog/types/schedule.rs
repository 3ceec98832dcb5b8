//! `schedule`: the times when resources may be applied (section 12, *Schedules*).

use std::sync::Arc;

use jiff::civil::{Date, Time, Weekday};
use jiff::{Timestamp, ToSpan, Zoned};
use switchtender_devices::model::{AttributeModel, Role, RunsOn, ValueSpec};
use switchtender_devices::value::Value;

use super::super::resource::Resource;
use super::{BehaviorError, ResourceType, TypeBehavior, ValueStyle, allowed, small_model};

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
        behavior: Arc::new(ScheduleType),
    }
}

#[derive(Debug)]
struct ScheduleType;

impl TypeBehavior for ScheduleType {
    fn values(&self) -> ValueStyle {
        ValueStyle::Classic
    }

    fn is_providerless(&self) -> bool {
        true
    }

    fn munge(
        &self,
        resource: &Resource,
        attribute: &AttributeModel,
        value: &Value,
    ) -> Result<Value, BehaviorError> {
        match attribute.name.as_str() {
            "range" => {
                for range in each(value) {
                    Range::parse(&range).map_err(|error| BehaviorError(error.render(value)))?;
                }
            }
            "weekday" => {
                for day in each(value) {
                    weekday(&day)?;
                }
            }
            "repeat" => check_repeat(resource, value)?,
            _ => {}
        }
        allowed(&attribute.values, value)
    }
}

fn check_repeat(resource: &Resource, value: &Value) -> Result<(), BehaviorError> {
    if repeat(value).is_none() {
        return Err(BehaviorError("Repeat must be a number".to_owned()));
    }
    // Puppet compares the declared value, so the string `1` differs from 1.
    match resource.parameter("periodmatch").and_then(Value::as_str) {
        Some(period) if period != "distance" && *value != Value::Integer(1) => Err(BehaviorError(
            format!("Repeat must be 1 unless periodmatch is 'distance', not '{period}'"),
        )),
        _ => Ok(()),
    }
}

/// A schedule. It permits or forbids applying a resource at a time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Schedule {
    ranges: Vec<Range>,
    weekdays: Vec<Weekday>,
    period: Option<Period>,
    /// Repetitions per period.
    repeat: i64,
    by_number: bool,
}

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

/// The rules for resources that were never checked, and for counting periods by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PeriodRule {
    /// Compares complete periods. A resource that was never checked is due.
    Sound,
    /// As Puppet: compares days of months and hours of days. Never checked means the start of 1970.
    Puppet,
}

impl Schedule {
    /// The schedule of a `schedule` resource. Invalid values were refused when the catalog was
    /// converted.
    pub(crate) fn of(resource: &Resource) -> Self {
        let list = |name: &str| resource.parameter(name).map(each).unwrap_or_default();
        let word = |name: &str| resource.parameter(name).and_then(Value::as_str);
        Self {
            ranges: list("range")
                .iter()
                .filter_map(|range| Range::parse(range).ok())
                .collect(),
            weekdays: list("weekday")
                .iter()
                .filter_map(|day| weekday(day).ok())
                .collect(),
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
        }
    }

    /// Whether a resource that was last checked at `checked` may be applied now.
    pub(crate) fn allows(
        &self,
        checked: Option<Timestamp>,
        now: &Zoned,
        numbering: PeriodRule,
    ) -> bool {
        self.in_ranges(now) && self.period_is_over(checked, now, numbering)
    }

    /// Whether the check divides a period by a `repeat` of 0.
    pub(crate) fn divides_by_zero(&self, now: &Zoned) -> bool {
        let divides = !self.by_number && !matches!(self.period, None | Some(Period::Never));
        self.repeat == 0 && divides && self.in_ranges(now)
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
        numbering: PeriodRule,
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
            PeriodRule::Sound => {
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
            PeriodRule::Puppet => match period {
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

/// From one time of day to another, both inclusive. Past midnight if the end is not after the
/// start.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    start: Time,
    end: Time,
}

/// An invalid range, in Puppet's words.
#[derive(Clone, Debug, PartialEq)]
enum BadRange {
    /// It does not have the form of a range.
    Form(String),
    /// A part is out of bounds.
    Part { part: &'static str, number: String },
}

impl BadRange {
    /// The message about the value. Puppet checks the parts when it munges the value.
    fn render(&self, value: &Value) -> String {
        match self {
            Self::Form(text) => format!("Invalid range value '{text}'"),
            Self::Part { part, number } => format!(
                "Munging failed for value {} in class range: Invalid {part} '{number}'",
                value.inspect()
            ),
        }
    }
}

impl Range {
    fn parse(value: &Value) -> Result<Self, BadRange> {
        let form = || BadRange::Form(value.ruby_to_s());
        let text = value.as_str().ok_or_else(form)?;
        let (start, end) = text.split_once('-').ok_or_else(form)?;
        let time = |text: &str| {
            let mut numbers = [0_u32; 3];
            let mut parts = text.trim().split(':');
            for (number, part) in numbers.iter_mut().zip(&mut parts) {
                *number = part.parse().map_err(|_| form())?;
            }
            if parts.next().is_some() {
                return Err(form());
            }
            let bounds = [("hour", 23), ("minute", 59), ("second", 59)];
            for ((part, most), number) in bounds.into_iter().zip(numbers) {
                if number > most {
                    let number = number.to_string();
                    return Err(BadRange::Part { part, number });
                }
            }
            let [hour, minute, second] = numbers.map(|number| number as i8);
            Ok(Time::constant(hour, minute, second, 0))
        };
        Ok(Self {
            start: time(start)?,
            end: time(end)?,
        })
    }

    /// The day on which the range that contains this time started.
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
    value.ruby_to_s().parse().ok()
}

/// A weekday by its name, its first three letters, or its number (Sunday is 0).
fn weekday(value: &Value) -> Result<Weekday, BehaviorError> {
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
            let text = value.ruby_to_s();
            BehaviorError(format!("{text} is not a valid day of the week"))
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
            ranges: ranges
                .iter()
                .map(|r| Range::parse(&(*r).into()).unwrap())
                .collect(),
            weekdays: days
                .iter()
                .map(|d| weekday(&(*d).into()).unwrap())
                .collect(),
            repeat: 1,
            ..Schedule::default()
        }
    }

    #[test]
    fn schedule_ranges_are_inclusive_and_may_span_midnight() {
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
            let allowed = schedule(&ranges, &days).allows(None, &at(now), PeriodRule::Sound);
            assert_eq!(allowed, expected, "{ranges:?} {days:?} {now}");
        }
    }

    #[test]
    fn schedule_is_due_for_unchecked_resources_on_the_first_of_a_month() {
        let daily = Schedule {
            period: Some(Period::Daily),
            by_number: true,
            repeat: 1,
            ..Schedule::default()
        };
        let now = at("2024-03-01T12:00:00Z");
        assert!(daily.allows(None, &now, PeriodRule::Sound));
        assert!(!daily.allows(None, &now, PeriodRule::Puppet));
    }
}
