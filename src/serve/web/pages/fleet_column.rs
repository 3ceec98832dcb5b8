//! The columns of the devices page, which each browser chooses.

use axum::http::{HeaderMap, HeaderValue, header};

use crate::history::devices::FleetDevice;
use crate::serve::web::shared_views::seconds;
use crate::words::words;

/// The cookie with the chosen columns.
const COOKIE: &str = "switchtender_columns";

/// One year.
const COOKIE_SECONDS: u32 = 365 * 24 * 3600;

words! {
    /// A column of the devices page besides name and status.
    FleetColumn {
        Site = "site",
        Labels = "labels",
        Platform = "platform",
        Address = "address",
        Model = "model",
        Version = "version",
        SerialNumber = "serial_number",
        Drift = "drift",
        Managed = "managed",
        LastRun = "last_run",
        NextRun = "next_run",
        Message = "message",
    }
}

/// The columns of a browser that chose none.
const DEFAULT: [FleetColumn; 7] = [
    FleetColumn::Site,
    FleetColumn::Labels,
    FleetColumn::Platform,
    FleetColumn::Drift,
    FleetColumn::LastRun,
    FleetColumn::NextRun,
    FleetColumn::Message,
];

/// A cell of the table.
pub(super) struct FleetCell {
    pub(super) column: FleetColumn,
    pub(super) content: CellContent,
}

/// What a cell has.
pub(super) enum CellContent {
    Text(String),
    Labels(Vec<String>),
    Time(String),
    Run { id: i64, time: String },
    Problem { since: Option<String>, text: String },
    Empty,
}

impl FleetColumn {
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Site => "Site",
            Self::Labels => "Labels",
            Self::Platform => "Platform",
            Self::Address => "Address",
            Self::Model => "Model",
            Self::Version => "Version",
            Self::SerialNumber => "Serial number",
            Self::Drift => "Drift",
            Self::Managed => "Managed",
            Self::LastRun => "Last run",
            Self::NextRun => "Next run",
            Self::Message => "Message",
        }
    }

    /// The class of the style sheet.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Drift | Self::Managed => "number",
            Self::Labels => "labels",
            Self::Message => "text weak",
            _ => "",
        }
    }

    pub(super) fn cell(self, device: &FleetDevice) -> FleetCell {
        let text = |text: &str| match text {
            "" => CellContent::Empty,
            text => CellContent::Text(text.to_owned()),
        };
        let optional = |value: &Option<String>| text(value.as_deref().unwrap_or_default());
        let content = match self {
            Self::Site => optional(&device.site),
            Self::Labels if device.labels.is_empty() => CellContent::Empty,
            Self::Labels => {
                let labels = device.labels.iter();
                CellContent::Labels(
                    labels
                        .map(|(key, value)| format!("{key}={value}"))
                        .collect(),
                )
            }
            Self::Platform => text(&device.platform),
            Self::Address => text(&device.address),
            Self::Model => optional(&device.model),
            Self::Version => optional(&device.version),
            Self::SerialNumber => optional(&device.serial_number),
            Self::Drift if device.drift == 0 => CellContent::Empty,
            Self::Drift => CellContent::Text(device.drift.to_string()),
            Self::Managed => match device.managed_percent {
                Some(percent) => CellContent::Text(format!("{percent} %")),
                None => CellContent::Empty,
            },
            Self::LastRun => match device.last_run.zip(device.last_ended) {
                Some((run, time)) => CellContent::Run {
                    id: run.0,
                    time: seconds(time),
                },
                None => CellContent::Empty,
            },
            Self::NextRun => match device.next_due {
                Some(time) => CellContent::Time(seconds(time)),
                None => CellContent::Empty,
            },
            Self::Message => problem(device),
        };
        FleetCell {
            column: self,
            content,
        }
    }
}

/// Why the last run failed, and since when the device cannot be connected.
fn problem(device: &FleetDevice) -> CellContent {
    let text = message(device);
    let since = device.unreachable_since.map(seconds);
    if since.is_none() && text.is_empty() {
        return CellContent::Empty;
    }
    CellContent::Problem { since, text }
}

/// Why the last run failed.
pub(super) fn message(device: &FleetDevice) -> String {
    let reason = match (&device.last_error, device.last_failed) {
        (Some(error), _) => error.clone(),
        (None, 0) => return String::new(),
        (None, 1) => "1 resource failed".to_owned(),
        (None, failed) => format!("{failed} resources failed"),
    };
    match device.failures {
        0 | 1 => reason,
        failures => format!("{reason} ({failures} failures in sequence)"),
    }
}

/// The columns of a browser: those of the request, or those that it chose before.
pub(super) fn columns(chosen: Option<Vec<FleetColumn>>, headers: &HeaderMap) -> Vec<FleetColumn> {
    let mut columns = chosen
        .or_else(|| stored(headers))
        .unwrap_or_else(|| DEFAULT.to_vec());
    columns.sort_unstable();
    columns.dedup();
    columns
}

fn stored(headers: &HeaderMap) -> Option<Vec<FleetColumn>> {
    let cookies = headers.get(header::COOKIE)?.to_str().ok()?;
    let mut pairs = cookies
        .split(';')
        .filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = pairs.find(|(name, _)| *name == COOKIE)?;
    Some(
        value
            .split('.')
            .filter_map(|word| word.parse().ok())
            .collect(),
    )
}

/// The cookie with chosen columns.
pub(super) fn cookie(columns: &[FleetColumn]) -> HeaderValue {
    let words: Vec<&str> = columns.iter().map(|column| column.word()).collect();
    let text = format!(
        "{COOKIE}={}; HttpOnly; SameSite=Lax; Path=/; Max-Age={COOKIE_SECONDS}",
        words.join(".")
    );
    HeaderValue::from_str(&text).expect("the words are ASCII")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_columns_come_from_the_request_or_the_cookie() {
        let mut headers = HeaderMap::new();
        assert_eq!(columns(None, &headers), DEFAULT);
        let chosen = vec![FleetColumn::Version, FleetColumn::Site];
        let sorted = [FleetColumn::Site, FleetColumn::Version];
        assert_eq!(columns(Some(chosen), &headers), sorted);
        let cookie = cookie(&sorted);
        let pair = cookie.to_str().unwrap().split(';').next().unwrap();
        headers.insert(
            header::COOKIE,
            HeaderValue::from_str(&format!("a=b; {pair}")).unwrap(),
        );
        assert_eq!(columns(None, &headers), sorted);
        assert_eq!(columns(Some(Vec::new()), &headers), []);
    }
}
