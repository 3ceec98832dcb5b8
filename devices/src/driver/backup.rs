//! The configuration of a device as text that changes only with the configuration.

use serde_json::Value as Json;

use super::Driver;
use crate::document::Table;
use crate::pattern::Pattern;
use crate::read::{ReadRequest, Reads};

/// `[backup]` of `platform.toml`.
#[derive(Clone, Debug)]
pub(crate) struct BackupRule {
    /// The read with the configuration. `None`: the answers for all types, as JSON.
    pub(crate) read: Option<String>,
    /// Lines, or names of JSON fields, that change without a change of the configuration.
    volatile: Vec<Pattern>,
}

/// A configuration, complete and with its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// The extension of its file, as `--running` reads it.
    pub extension: &'static str,
    /// The text of the file.
    pub text: String,
}

impl BackupRule {
    pub(super) fn load(table: &Table<'_>) -> Self {
        let rule = Self {
            read: table.string("read"),
            volatile: table.patterns("volatile"),
        };
        table.finish();
        rule
    }

    fn is_volatile(&self, text: &str) -> bool {
        self.volatile.iter().any(|pattern| pattern.is_match(text))
    }

    /// The lines of a configuration, without blank lines at both ends.
    fn lines(&self, text: &str) -> String {
        let lines = text.lines().map(str::trim_end);
        let lines: Vec<&str> = lines.filter(|line| !self.is_volatile(line)).collect();
        lines.join("\n").trim_matches('\n').to_owned() + "\n"
    }

    /// The fields of an answer. An answer that is not JSON is a text.
    fn json(&self, answer: &str) -> Json {
        match serde_json::from_str(answer) {
            Ok(json) => self.fields(json),
            Err(_) => Json::from(answer),
        }
    }

    fn fields(&self, json: Json) -> Json {
        match json {
            Json::Array(items) => items.into_iter().map(|item| self.fields(item)).collect(),
            Json::Object(entries) => {
                let entries = entries.into_iter();
                let stable = entries.filter(|(name, _)| !self.is_volatile(name));
                let stable = stable.map(|(name, value)| (name, self.fields(value)));
                Json::Object(stable.collect())
            }
            other => other,
        }
    }
}

impl Driver {
    /// The reads of a backup. `None`: the platform has no `[backup]`.
    pub fn backup_reads(&self) -> Option<Vec<ReadRequest>> {
        let rule = self.platform().backup.as_ref()?;
        let Some(read) = &rule.read else {
            let types = self.platform().types.values();
            let models: Vec<_> = types.map(|definition| &definition.model).collect();
            return Some(self.reads(&models));
        };
        let read = self.platform().reads.get(read)?;
        Some(vec![read.request.clone()])
    }

    /// The backup of a device with these answers. `None`: the platform has no `[backup]`.
    pub fn backup(&self, answers: &Reads) -> Option<Backup> {
        let rule = self.platform().backup.as_ref()?;
        Some(match &rule.read {
            Some(read) => Backup {
                extension: "cfg",
                text: rule.lines(answers.get(read)?),
            },
            None => {
                let answers = answers.iter();
                let answers = answers.map(|(name, answer)| (name.clone(), rule.json(answer)));
                let json = Json::Object(answers.collect());
                let text = serde_json::to_string_pretty(&json).expect("JSON has text keys");
                Backup {
                    extension: "json",
                    text: text + "\n",
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::{Facts, Registry};

    fn backup(platform: &str, read: &str, answer: &str) -> Backup {
        let registry = Registry::shipped();
        let platform = registry.platform(platform).unwrap();
        let driver = Driver::new(platform, &Facts::default());
        assert!(
            driver
                .backup_reads()
                .unwrap()
                .iter()
                .any(|one| one.name == read)
        );
        let answers = Reads::from_iter([(read.to_owned(), answer.to_owned())]);
        driver.backup(&answers).unwrap()
    }

    #[test]
    fn backup_of_lines_has_no_volatile_lines() {
        let body = "version 15.2\n!\nhostname sw1\nbanner motd ^C\n\n text ^C\nend\n";
        let printed = |bytes: u32, time: &str| {
            format!(
                "Building configuration...\r\n\r\nCurrent configuration : {bytes} bytes\r\n\
                 ! Last configuration change at {time} UTC Mon Nov 23 2026 by ops\r\n\
                 ! NVRAM config last updated at {time} UTC Mon Nov 23 2026\r\n{body}\
                 ntp clock-period {bytes}\n\n"
            )
        };
        let first = backup("cisco_ios", "config", &printed(1200, "10:00:00"));
        assert_eq!((first.extension, first.text.as_str()), ("cfg", body));
        let second = backup("cisco_ios", "config", &printed(9, "23:59:59"));
        assert_eq!(first, second);
    }

    #[test]
    fn backup_of_json_has_no_volatile_fields() {
        let read = "GET /mgmt/tm/ltm/pool";
        let answer = |generation: u32| {
            format!(
                r#"{{"kind":"c","items":[{{"name":"web","generation":{generation},"minimumActive":1}}]}}"#
            )
        };
        let first = backup("f5_bigip", read, &answer(7));
        assert_eq!(first, backup("f5_bigip", read, &answer(8)));
        assert_eq!(first.extension, "json");
        let json: Json = serde_json::from_str(&first.text).unwrap();
        let expected = r#"{"kind":"c","items":[{"name":"web","minimumActive":1}]}"#;
        assert_eq!(json[read], serde_json::from_str::<Json>(expected).unwrap());
    }
}
