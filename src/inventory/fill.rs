//! Replaces placeholders in the settings of a device.

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::names::Certname;

use super::address;
use super::placeholders::{PlaceholderError, Placeholders, TextUse, has_placeholder};
use super::secret_source::SecretSource;
use super::setting::TableSetting;
use super::table_settings::{Jump, TableSettings};

impl TableSettings {
    /// The placeholders of the device with these settings.
    pub(super) fn placeholders(&self, name: &str) -> Placeholders {
        let site = self.site.as_ref().map(|site| site.value.as_str());
        let platform = self.platform.as_ref();
        let platform = platform.map(|platform| platform.value.as_str());
        let labels = self.labels.iter();
        Placeholders::new(
            name,
            [("site", site), ("platform", platform)],
            labels.map(|(key, label)| (key.as_str(), label.value.as_str())),
        )
    }

    /// Replaces the placeholders in `address`, `certname` and the sources of secrets, also of the jump host.
    pub(super) fn fill(&mut self, values: &Placeholders) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        if let Some(address) = &mut self.address
            && has_placeholder(&address.value)
        {
            findings.extend(fill_address(address, values));
        }
        if let Some(certname) = &mut self.certname
            && has_placeholder(&certname.value)
        {
            findings.extend(fill_certname(certname, values));
        }
        let secrets = [
            &mut self.password,
            &mut self.enable_password,
            &mut self.passphrase,
            &mut self.token,
        ];
        for setting in secrets.into_iter().flatten() {
            match filled_source(&setting.value, values) {
                Ok(source) => setting.value = source,
                Err(found) => findings.push(found.at_setting(setting)),
            }
        }
        if let Some(jump) = &mut self.jump
            && let Jump::Host(host) = &mut jump.value
        {
            findings.extend(host.fill(values));
        }
        findings
    }
}

/// Why a source with placeholders has no value for a device.
enum FillError {
    Placeholder(PlaceholderError),
    Problem(&'static str),
}

impl FillError {
    fn at_setting<T>(&self, setting: &TableSetting<T>) -> Diagnostic {
        match self {
            FillError::Placeholder(error) => placeholder(setting, error),
            FillError::Problem(problem) => setting.origin.error("secret-source", *problem),
        }
    }
}

fn filled_source(source: &SecretSource, values: &Placeholders) -> Result<SecretSource, FillError> {
    let filled = source.filled(values).map_err(FillError::Placeholder)?;
    match filled.problem() {
        Some(problem) => Err(FillError::Problem(problem)),
        None => Ok(filled),
    }
}

fn fill_address(address: &mut TableSetting<String>, values: &Placeholders) -> Option<Diagnostic> {
    match values.fill(&address.value, TextUse::Text) {
        Ok(text) => {
            let found = address::check(&text).map(|help| {
                let message = format!("`{text}` is neither a hostname nor an IP address");
                address.origin.error("address", message).help(help)
            });
            address.value = text;
            found
        }
        Err(error) => Some(placeholder(address, &error)),
    }
}

fn fill_certname(
    certname: &mut TableSetting<Certname>,
    values: &Placeholders,
) -> Option<Diagnostic> {
    let text = match values.fill(&certname.value, TextUse::Text) {
        Ok(text) => text,
        Err(error) => return Some(placeholder(certname, &error)),
    };
    match Certname::parse(&text) {
        Ok(filled) => {
            certname.value = filled;
            None
        }
        Err(error) => {
            let found = certname.origin.error("certname", error.to_string());
            Some(found.help(error.hint))
        }
    }
}

fn placeholder<T>(setting: &TableSetting<T>, error: &PlaceholderError) -> Diagnostic {
    let found = setting.origin.error("placeholder", error.to_string());
    found.help(error.help())
}
