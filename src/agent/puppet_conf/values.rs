//! The value of a setting: from a flag, else the file, else the default. References to other
//! settings are replaced, and the type is checked.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use switchtender_devices::diagnostic::Diagnostic;

use super::PuppetSettingSource;
use super::directories::PuppetDirectories;
use super::parse::is_secret;
use super::parse::{ConfigValue, PuppetConf};
use super::table::{self, PuppetSetting, SettingSupport, SettingType};

/// A value, or what is wrong with it.
pub(super) type SettingResult<T> = Result<T, Box<Diagnostic>>;

/// Where values come from.
pub(super) struct SettingValues<'a> {
    pub(crate) flags: &'a BTreeMap<String, String>,
    pub(crate) conf: &'a PuppetConf,
    pub(crate) home: &'a PuppetDirectories,
}

impl SettingValues<'_> {
    /// Checks the value against the type of the setting.
    pub(crate) fn check(&self, setting: &PuppetSetting) -> SettingResult<()> {
        match setting.value_type {
            SettingType::Text | SettingType::Path | SettingType::List => {
                self.text(setting.name).map(drop)?
            }
            _ if matches!(setting.support, SettingSupport::NoEffect(_)) => {}
            SettingType::Boolean => self.boolean(setting.name).map(drop)?,
            SettingType::Duration => self.duration(setting.name).map(drop)?,
            SettingType::Integer => self.integer(setting.name).map(drop)?,
        }
        if let SettingSupport::Refused(instead) = setting.support {
            let text = self.text(setting.name)?;
            if !text.is_empty()
                && text != "false"
                && self.origin(setting.name) != PuppetSettingSource::Default
            {
                let diagnostic = Diagnostic::error(
                    "setting-refused",
                    format!("{} is not supported", setting.name),
                );
                return Err(Box::new(
                    self.placed(setting.name, diagnostic).help(instead),
                ));
            }
        }
        Ok(())
    }

    pub(crate) fn origin(&self, name: &str) -> PuppetSettingSource {
        if self.flags.contains_key(name) {
            PuppetSettingSource::Flag
        } else if self.conf.values.contains_key(name) {
            PuppetSettingSource::File
        } else {
            PuppetSettingSource::Default
        }
    }

    /// The value as written, and its position in the file, if any.
    pub(crate) fn raw(&self, name: &str) -> (String, Option<&ConfigValue>) {
        if let Some(value) = self.flags.get(name) {
            return (value.clone(), None);
        }
        if let Some(value) = self.conf.values.get(name) {
            return (value.text.clone(), Some(value));
        }
        let default = match name {
            "confdir" => self.home.confdir.display().to_string(),
            "vardir" => self.home.vardir.display().to_string(),
            _ => table::find(name)
                .map_or("", |setting| setting.default)
                .to_owned(),
        };
        (default, None)
    }

    /// The value with references to other settings replaced.
    pub(crate) fn text(&self, name: &str) -> SettingResult<String> {
        self.expanded(name, 0)
    }

    pub(crate) fn expanded(&self, name: &str, depth: usize) -> SettingResult<String> {
        let (raw, _) = self.raw(name);
        if depth > 16 {
            return Err(self.wrong(name, "a value without a reference to itself"));
        }
        let mut text = String::with_capacity(raw.len());
        let mut rest = raw.as_str();
        while let Some(at) = rest.find('$') {
            text.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let (word, after) = match rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
                Some(parts) => parts,
                None => {
                    let end = rest
                        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                        .unwrap_or(rest.len());
                    rest.split_at(end)
                }
            };
            // Commands may contain shell variables.
            if table::find(word).is_some() {
                text.push_str(&self.expanded(word, depth + 1)?);
                rest = after;
            } else {
                text.push('$');
            }
        }
        text.push_str(rest);
        Ok(text)
    }

    pub(crate) fn optional(&self, name: &str) -> SettingResult<Option<String>> {
        self.text(name)
            .map(|text| (!text.is_empty()).then_some(text))
    }

    pub(crate) fn path(&self, name: &str) -> SettingResult<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    pub(crate) fn list(&self, name: &str) -> SettingResult<Vec<String>> {
        let text = self.text(name)?;
        Ok(text
            .trim_matches(['[', ']'])
            .split(',')
            .map(|item| item.trim().to_owned())
            .filter(|item| !item.is_empty())
            .collect())
    }

    pub(crate) fn boolean(&self, name: &str) -> SettingResult<bool> {
        match self.text(name)?.as_str() {
            "true" => Ok(true),
            "false" | "" => Ok(false),
            _ => Err(self.wrong(name, "true or false")),
        }
    }

    pub(crate) fn integer(&self, name: &str) -> SettingResult<u64> {
        let number = self.text(name)?.parse::<u64>().ok();
        let port = name.ends_with("port");
        match number {
            Some(number) if !port || (1..=65_535).contains(&number) => Ok(number),
            _ if port => Err(self.wrong(name, "a port, 1 to 65535")),
            _ => Err(self.wrong(name, "an integer")),
        }
    }

    pub(crate) fn count(&self, name: &str) -> SettingResult<usize> {
        Ok(usize::try_from(self.integer(name)?).unwrap_or(usize::MAX))
    }

    /// `None`: unlimited.
    pub(crate) fn duration(&self, name: &str) -> SettingResult<Option<Duration>> {
        let text = self.text(name)?;
        if text == "unlimited" {
            return Ok(None);
        }
        let digits = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        let factor = match &text[digits..] {
            "" | "s" => Some(1),
            "m" => Some(60),
            "h" => Some(3600),
            "d" => Some(86_400),
            "y" => Some(365 * 86_400),
            _ => None,
        };
        let seconds = text[..digits]
            .parse::<u64>()
            .ok()
            .zip(factor)
            .and_then(|(number, factor)| number.checked_mul(factor));
        match seconds {
            Some(seconds) => Ok(Some(Duration::from_secs(seconds))),
            None => Err(self.wrong(name, "a time such as 90, 30m, 2h or 1d, or `unlimited`")),
        }
    }

    pub(crate) fn wrong(&self, name: &str, expected: &str) -> Box<Diagnostic> {
        let (text, _) = self.raw(name);
        let message = if is_secret(name) {
            format!("{name} must be {expected}")
        } else {
            format!("{name} must be {expected}, not `{text}`")
        };
        let diagnostic = Diagnostic::error("setting-value", message);
        Box::new(self.placed(name, diagnostic))
    }

    /// Adds the position of the value to a finding. Flags have no position.
    pub(crate) fn placed(&self, name: &str, diagnostic: Diagnostic) -> Diagnostic {
        match self.raw(name).1 {
            Some(value) => diagnostic.at(&value.source, value.span.clone(), ""),
            None => diagnostic,
        }
    }
}
