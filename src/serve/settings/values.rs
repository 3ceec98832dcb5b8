//! Values of settings with a syntax of their own: durations, sizes and numbers.

use std::str::FromStr;
use std::time::Duration;

use switchtender_devices::document::Item;

/// The code of an error about a value.
pub(super) const BAD_VALUE: &str = "bad-value";

/// A value of a type with a syntax of its own.
pub(super) fn parsed<T: FromStr>(item: &Item<'_>, expected: &str) -> Option<T> {
    let text = item.string()?;
    let value = text.parse().ok();
    if value.is_none() {
        item.error(BAD_VALUE, format!("`{text}` is not {expected}"));
    }
    value
}

pub(super) fn positive(item: &Item<'_>) -> Option<usize> {
    let number = item.integer()?;
    let value = usize::try_from(number).ok().filter(|number| *number > 0);
    if value.is_none() {
        item.error(BAD_VALUE, format!("`{number}` is not a positive number"));
    }
    value
}

/// A duration, such as `30m`.
pub(super) fn duration(item: &Item<'_>) -> Option<Duration> {
    let text = item.string()?;
    let value = switchtender_devices::duration::parse(&text);
    let value = value.filter(|duration| !duration.is_zero());
    if value.is_none() {
        item.error(
            BAD_VALUE,
            format!("`{text}` is not a duration, such as `30m`"),
        );
    }
    value
}

/// A duration in days or smaller units, such as `90d`.
pub(super) fn days_or_duration(item: &Item<'_>) -> Option<Duration> {
    const DAY: u64 = 24 * 60 * 60;
    let days = item.as_str().and_then(|text| text.strip_suffix('d'));
    match days.and_then(|days| days.parse::<u32>().ok()) {
        Some(days) if days > 0 => Some(Duration::from_secs(u64::from(days) * DAY)),
        _ => duration(item),
    }
}

/// A size in bytes, such as `2GiB`.
pub(super) fn size(item: &Item<'_>) -> Option<u64> {
    let text = item.string()?;
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)];
    let value = units.iter().find_map(|(unit, bits)| {
        let number: u64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        number.checked_shl(*bits).filter(|size| *size > 0)
    });
    if value.is_none() {
        item.error(BAD_VALUE, format!("`{text}` is not a size, such as `2GiB`"));
    }
    value
}
