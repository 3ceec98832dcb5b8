//! A device of the inventory with its merged settings.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::driver::{Driver, Facts, ParameterValues, Platform, Registry};
use switchtender_devices::names::{Certname, DeviceName, PlatformName};
use switchtender_devices::provider::driver_provider::ProtectPolicy;
use switchtender_devices::session::WriteGuarantee;
use switchtender_devices::session::connect_params::HostKeyPolicy;
use switchtender_devices::value::Value;

use super::placeholders::Placeholders;
use super::secret_source::SecretSource;
use super::setting::TablePosition;
use super::table_settings::{Jump, TableSettings};
use super::{FailurePolicy, SavePolicy, StandbyPolicy, resolve};

/// The merged settings of a device. Required settings can be missing.
#[derive(Clone, Debug)]
pub(crate) struct DeviceEntry {
    /// The name in the inventory.
    pub(crate) name: String,
    pub(crate) position: TablePosition,
    /// All settings with their origin.
    pub(crate) settings: TableSettings,
}

impl DeviceEntry {
    /// The name of its catalog: the certname, or the name of the device.
    pub(crate) fn certname(&self) -> &str {
        let certname = self.settings.certname.as_ref();
        certname.map_or(&self.name, |certname| &certname.value)
    }

    /// The device with its problems. `None`: a name is invalid, or the platform is missing without a problem.
    pub(crate) fn complete(self, problems: Vec<Diagnostic>) -> Option<Device> {
        let platform = match &self.settings.platform {
            Some(platform) => platform.value.clone(),
            None if problems.is_empty() => return None,
            // The device does not run.
            None => PlatformName::from("unknown"),
        };
        Some(Device {
            problems,
            platform,
            certname: Certname::parse(self.certname()).ok()?,
            name: DeviceName::parse(&self.name).ok()?,
            position: self.position,
            settings: self.settings,
        })
    }
}

/// A device with its settings. Contains no secret of a secret source.
#[derive(Clone, Debug)]
pub(crate) struct Device {
    /// The name in the inventory.
    pub(crate) name: DeviceName,
    pub(crate) position: TablePosition,
    /// Why it cannot be contacted: a setting is missing, or its platform is unknown. Other devices run.
    pub(crate) problems: Vec<Diagnostic>,
    pub(crate) platform: PlatformName,
    /// The name of its catalog.
    pub(crate) certname: Certname,
    /// All settings with their origin.
    pub(crate) settings: TableSettings,
}

impl Device {
    pub(crate) fn site(&self) -> Option<&str> {
        self.settings.site.as_ref().map(|site| site.value.as_str())
    }

    pub(crate) fn label(&self, name: &str) -> Option<&str> {
        self.settings
            .labels
            .get(name)
            .map(|label| label.value.as_str())
    }

    /// The values of the parameters of its platform.
    pub(crate) fn parameters(&self) -> ParameterValues {
        let parameters = self.settings.parameters.iter();
        parameters
            .map(|(name, setting)| (name.clone(), setting.value.clone()))
            .collect()
    }

    /// Its platform with the values of its parameters.
    pub(crate) fn platform_of(&self, registry: &Registry) -> Option<Arc<Platform>> {
        registry.platform_with(&self.platform, &self.parameters())
    }

    /// The driver of its platform for a device with these facts; its options are added.
    pub(crate) fn driver(&self, registry: &Registry, facts: &Facts) -> Option<Driver> {
        let mut facts = facts.clone();
        for (name, value) in self.options() {
            facts.insert(format!("option.{name}"), value.ruby_to_s());
        }
        let platform = self.platform_of(registry)?;
        Some(Driver::new(&platform, &facts))
    }

    /// The values of placeholders in settings and secrets.
    pub(crate) fn placeholders(&self) -> Placeholders {
        self.settings.placeholders(&self.name)
    }

    /// The environment variables of its secrets and of those of its jump hosts.
    pub(crate) fn environment_variables(&self) -> Vec<&str> {
        let secrets = self.settings.all_secrets().into_iter();
        let mut names: Vec<&str> = secrets
            .filter_map(|secret| match &secret.value {
                SecretSource::Env(name) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        let mut next = Some(&self.settings);
        while let Some(settings) = next {
            if settings.agent.as_ref().is_some_and(|agent| agent.value) {
                names.push("SSH_AUTH_SOCK");
            }
            next = match settings.jump.as_ref().map(|jump| &jump.value) {
                Some(Jump::Host(host)) => Some(host),
                _ => None,
            };
        }
        names
    }

    /// The verification of its host key.
    pub(crate) fn host_key_policy(&self, state_dir: &Path) -> HostKeyPolicy {
        resolve::host_key(&self.settings, state_dir)
    }

    /// The policy for saving the startup configuration.
    ///
    /// By default, changes are saved if the platform shows that the run saves nothing of somebody else.
    pub(crate) fn save_policy(&self, platform: &Platform) -> SavePolicy {
        let default = if platform.shows_saved() {
            SavePolicy::OnChange
        } else {
            SavePolicy::Never
        };
        let save = self.settings.save_config.as_ref();
        save.map_or(default, |save| save.value)
    }

    /// Whether changes are reverted unless they are confirmed.
    pub(crate) fn protect_policy(&self) -> ProtectPolicy {
        let protect = self.settings.protect.as_ref();
        protect.map_or_else(ProtectPolicy::default, |protect| protect.value)
    }

    /// Whether a scheduled reload may revert changes.
    pub(crate) fn allows_reload(&self) -> bool {
        let allowed = self.settings.protect_by_reload.as_ref();
        allowed.is_some_and(|allowed| allowed.value)
    }

    /// Whether changes are undone after a failed resource.
    pub(crate) fn failure_policy(&self) -> FailurePolicy {
        let policy = self.settings.on_failure.as_ref();
        policy.map_or_else(FailurePolicy::default, |policy| policy.value)
    }

    /// Whether all earlier sessions of the login end after a takeover or a crash.
    pub(crate) fn ends_sessions(&self) -> bool {
        let ends = self.settings.end_sessions.as_ref();
        ends.is_some_and(|ends| ends.value)
    }

    /// What becomes of a late write of a process that no longer may change the device.
    pub(crate) fn guarantee(&self, platform: &Platform) -> WriteGuarantee {
        let transport = self.settings.transport.as_ref();
        let transport = transport.map(|transport| transport.value);
        platform.protocol().guarantee(transport.unwrap_or_default())
    }

    /// What a run does that would change the standby unit of a pair.
    pub(crate) fn standby_policy(&self) -> StandbyPolicy {
        let policy = self.settings.standby.as_ref();
        policy.map_or_else(StandbyPolicy::default, |policy| policy.value)
    }

    /// Maximum share of its interfaces that a catalog shuts down, in percent.
    pub(crate) fn max_shutdown(&self) -> Option<u8> {
        self.settings.max_shutdown.as_ref().map(|limit| limit.value)
    }

    /// Options of the platform's driver, by dotted name.
    pub(crate) fn options(&self) -> BTreeMap<String, Value> {
        self.settings
            .options
            .iter()
            .map(|(name, option)| (name.clone(), option.value.clone()))
            .collect()
    }
}
