//! Settings as text, as `inventory show` prints them.

use std::path::PathBuf;
use std::time::Duration;

use switchtender_devices::dialogue::HostnamePattern;
use switchtender_devices::duration;
use switchtender_devices::names::{Certname, PlatformName};
use switchtender_devices::provider::driver_provider::ProtectPolicy;
use switchtender_devices::secret_url::SecretUrl;
use switchtender_devices::session::LineTransport;
use switchtender_devices::session::connect_params::{Algorithms, RestLogin};

use super::failure_policy::FailurePolicy;
use super::save_policy::SavePolicy;
use super::secret_source::SecretSource;
use super::standby_policy::StandbyPolicy;
use super::table_settings::{ALGORITHMS, Jump, LINE_TRANSPORTS, LOGINS};
use super::verification::{Fingerprint, HostKey, Tls};

/// Renders a setting as text, without secrets.
pub(super) trait Render {
    fn render(&self) -> String;
}

impl Render for String {
    fn render(&self) -> String {
        self.clone()
    }
}

impl Render for PlatformName {
    fn render(&self) -> String {
        self.as_str().to_owned()
    }
}

impl Render for Certname {
    fn render(&self) -> String {
        self.as_str().to_owned()
    }
}

macro_rules! render_display {
    ($($kind:ty),+) => {
        $(impl Render for $kind {
            fn render(&self) -> String {
                self.to_string()
            }
        })+
    };
}

render_display!(
    u8,
    u16,
    usize,
    bool,
    HostnamePattern,
    SecretSource,
    SecretUrl
);

impl Render for PathBuf {
    fn render(&self) -> String {
        self.display().to_string()
    }
}

impl<T: Render> Render for Vec<T> {
    fn render(&self) -> String {
        self.iter()
            .map(Render::render)
            .collect::<Vec<_>>()
            .join(", ")
    }
}

impl Render for Duration {
    fn render(&self) -> String {
        duration::render(*self)
    }
}

impl Render for SavePolicy {
    fn render(&self) -> String {
        render_word(&SavePolicy::WORDS, self)
    }
}

impl Render for StandbyPolicy {
    fn render(&self) -> String {
        render_word(&StandbyPolicy::WORDS, self)
    }
}

impl Render for ProtectPolicy {
    fn render(&self) -> String {
        render_word(&ProtectPolicy::WORDS, self)
    }
}

impl Render for FailurePolicy {
    fn render(&self) -> String {
        render_word(&FailurePolicy::WORDS, self)
    }
}

impl Render for Fingerprint {
    fn render(&self) -> String {
        self.as_str().to_owned()
    }
}

fn render_word<T: PartialEq>(words: &[(&str, T)], value: &T) -> String {
    words
        .iter()
        .find(|(_, named)| named == value)
        .map_or_else(String::new, |(word, _)| (*word).to_owned())
}

impl Render for HostKey {
    fn render(&self) -> String {
        render_word(&HostKey::WORDS, self)
    }
}

impl Render for Tls {
    fn render(&self) -> String {
        render_word(&Tls::WORDS, self)
    }
}

impl Render for Algorithms {
    fn render(&self) -> String {
        render_word(ALGORITHMS, self)
    }
}

impl Render for LineTransport {
    fn render(&self) -> String {
        render_word(LINE_TRANSPORTS, self)
    }
}

impl Render for RestLogin {
    fn render(&self) -> String {
        render_word(LOGINS, self)
    }
}

impl Render for Jump {
    fn render(&self) -> String {
        match self {
            Jump::No => "none".to_owned(),
            Jump::Device(name) => name.clone(),
            Jump::Host(host) => {
                let name = host.address.as_ref();
                name.map_or_else(String::new, |address| address.value.clone())
            }
        }
    }
}
