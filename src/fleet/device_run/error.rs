//! Why the run of a device ended without a transaction.

use switchtender_devices::diagnostic::{Diagnostic, Severity};
use switchtender_devices::names::{DeviceName, PlatformName};
use switchtender_devices::session::{RevertAbsence, SessionError, SessionErrorKind};

use crate::agent::device_file::FileError;
use crate::agent::hook::HookError;
use crate::agent::run::RunError;
use crate::desired_state::StateError;
use crate::error_chain::chain;
use crate::fleet::catalog_check::CycleReport;
use crate::fleet::catalog_files::CatalogError;
use crate::fleet::inspect::InspectError;
use crate::fleet::mock_fleet::WITHOUT_MOCK;
use crate::fleet::saved_files::SavedFileError;
use crate::manifest::ManifestError;
use crate::store::identity::{DeviceIdentity, Owner};
use crate::store::{LockError, StoreError};

/// Why a device did not run, or why its run failed apart from its resources.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DeviceRunError {
    #[error(transparent)]
    Locked(#[from] LockError),
    #[error(
        "Skipping run of {device}; administratively disabled (Reason: '{reason}'); use `switchtender device --enable --target {device}`"
    )]
    Disabled { device: DeviceName, reason: String },
    #[error("cannot read the catalog")]
    Catalog(#[from] CatalogError),
    /// The desired state of the device is missing or invalid.
    #[error("cannot use the desired state")]
    DesiredState(#[from] StateError),
    /// The manifest gave no catalog.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The Puppet Server gave no catalog.
    #[error(transparent)]
    Agent(#[from] RunError),
    #[error("the catalog was refused: {}", count_errors(findings))]
    Refused {
        findings: Vec<Diagnostic>,
        /// The dependency cycles of the catalog.
        cycles: Option<Box<CycleReport>>,
    },
    /// The run would exceed these limits.
    #[error("nothing was changed: {}", messages(findings))]
    Limits { findings: Vec<Diagnostic> },
    /// The run would do something else than what was planned.
    #[error("nothing was changed: the run differs from the plan")]
    Plan { findings: Vec<Diagnostic> },
    /// The undo would leave a difference, or remove what the run did not add.
    #[error(
        "nothing was changed: the undo would not give back the configuration from before the run"
    )]
    IncompleteUndo { findings: Vec<Diagnostic> },
    /// The user did not agree to the plan.
    #[error("nothing was changed: the plan was not confirmed")]
    NotConfirmed,
    /// A strict run of a configuration with lines that are not managed.
    #[error("nothing was changed: the configuration has lines that are not managed")]
    Strict { findings: Vec<Diagnostic> },
    #[error("cannot read the configuration")]
    Unreadable(#[source] Box<InspectError>),
    /// Protection is required.
    #[error("nothing was changed: {}, and `protect` is \"required\"", .0.reason)]
    NoTimedRevert(RevertAbsence),
    #[error("nothing was changed: the device is {state}, and `standby` is \"refuse\"")]
    Standby { state: String },
    #[error(
        "nothing was changed: the run was made on another device, {changed}; the device that answers has {identity}"
    )]
    OtherDevice {
        changed: Box<Owner>,
        identity: DeviceIdentity,
        hint: String,
    },
    #[error("nothing was changed: the second login reached another device, which has {identity}")]
    OtherUnit { identity: DeviceIdentity },
    #[error(
        "nothing was changed: the device still reverts the changes of the run of {started}, which ended early"
    )]
    RevertPending { started: jiff::Timestamp },
    #[error("cannot obtain the credentials")]
    Credentials { findings: Vec<Diagnostic> },
    #[error("Can't load {kind} for {device}: {}", render_findings(findings))]
    Connection {
        kind: String,
        device: DeviceName,
        findings: Vec<Diagnostic>,
    },
    /// The inventory does not say how to reach the device.
    #[error("the inventory has no usable settings: {}", messages(findings))]
    Inventory { findings: Vec<Diagnostic> },
    #[error("unknown platform `{platform}`")]
    Platform {
        platform: PlatformName,
        hint: String,
    },
    #[error("there is no mock of platform {platform}")]
    NoMock { platform: PlatformName },
    #[error(transparent)]
    Saved(#[from] SavedFileError),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("cannot read the state of the device")]
    Store(#[from] StoreError),
    #[error(transparent)]
    Hook(#[from] HookError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("Cancelling startup: the run was stopped before the catalog was applied")]
    Stopped,
}

/// What to do about changes of a standby unit.
pub(super) const STANDBY_HINT: &str =
    "change the active unit, or set `standby = \"warn\"` for the device in the inventory";

/// Whether the device, or its jump host, could not be connected.
fn is_unreachable(kind: &SessionErrorKind) -> bool {
    match kind {
        SessionErrorKind::Unreachable { .. } | SessionErrorKind::ConnectTimeout { .. } => true,
        SessionErrorKind::JumpHost { kind, .. } => is_unreachable(kind),
        _ => false,
    }
}

impl DeviceRunError {
    /// Whether the device could not be connected.
    pub(crate) fn is_unreachable(&self) -> bool {
        matches!(self, DeviceRunError::Session(error) if is_unreachable(&error.kind))
    }

    /// A catalog that has these findings.
    pub(in crate::fleet) fn refused(findings: Vec<Diagnostic>) -> Self {
        DeviceRunError::Refused {
            findings,
            cycles: None,
        }
    }

    /// Findings in files, rendered with their positions.
    pub(crate) fn findings(&self) -> &[Diagnostic] {
        match self {
            DeviceRunError::Refused { findings, .. }
            | DeviceRunError::Plan { findings }
            | DeviceRunError::Strict { findings }
            | DeviceRunError::IncompleteUndo { findings }
            | DeviceRunError::Credentials { findings } => findings,
            DeviceRunError::DesiredState(error) => error.findings(),
            DeviceRunError::Manifest(error) => error.findings(),
            _ => &[],
        }
    }

    /// What to do next.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            DeviceRunError::Session(error) => error.hint(),
            DeviceRunError::Saved(error) => error.hint(),
            DeviceRunError::Catalog(error) => error.hint(),
            DeviceRunError::DesiredState(error) => error.hint(),
            DeviceRunError::Manifest(error) => error.hint(),
            DeviceRunError::Agent(error) => error.hint(),
            DeviceRunError::Platform { hint, .. } | DeviceRunError::OtherDevice { hint, .. } => {
                Some(hint.clone())
            }
            DeviceRunError::Limits { findings } | DeviceRunError::Inventory { findings } => {
                findings.first()?.help.clone()
            }
            DeviceRunError::IncompleteUndo { .. } => Some(INCOMPLETE_UNDO_HINT.to_owned()),
            DeviceRunError::NoTimedRevert(absence) => Some(revert_hint(absence)),
            DeviceRunError::Standby { .. } => Some(STANDBY_HINT.to_owned()),
            DeviceRunError::RevertPending { .. } => {
                Some("run again after the end of the device's timer".to_owned())
            }
            DeviceRunError::NoMock { .. } => Some(format!(
                "choose other devices with --target or --label; {WITHOUT_MOCK}"
            )),
            _ => None,
        }
    }

    /// The error with its causes in one line, without the name of the device in front.
    pub(crate) fn render(&self, device: &DeviceName) -> String {
        let text = chain(self);
        let rest = text
            .strip_prefix(device.as_str())
            .and_then(|rest| rest.strip_prefix(": "));
        rest.map_or(text.clone(), str::to_owned)
    }

    /// Whether the run did not get the lock of the device: another run, or the administrator,
    /// prevents it, and there is nothing to report.
    pub(in crate::fleet) fn is_before_lock(&self) -> bool {
        matches!(
            self,
            DeviceRunError::Locked(_) | DeviceRunError::Disabled { .. }
        )
    }

    /// Puppet's last message about a run without a usable catalog.
    pub(super) fn skip_message(&self) -> Option<&'static str> {
        match self {
            DeviceRunError::Agent(_) | DeviceRunError::Catalog(_) | DeviceRunError::Manifest(_) => {
                Some("Could not retrieve catalog; skipping run")
            }
            DeviceRunError::Refused { .. } => Some("The catalog was refused; skipping run"),
            _ => None,
        }
    }
}

/// What to do about an undo that would not restore everything.
pub(super) const INCOMPLETE_UNDO_HINT: &str =
    "restore it by hand, or undo the rest with `--allow incomplete-undo`";

/// How a device can be changed that cannot revert changes.
pub(super) fn revert_hint(absence: &RevertAbsence) -> String {
    let unprotected = "use `protect = \"auto\"` to change it without protection";
    match &absence.hint {
        Some(hint) => format!("{hint}, or {unprotected}"),
        None => unprotected.to_owned(),
    }
}

fn messages(findings: &[Diagnostic]) -> String {
    let messages = findings.iter().map(|found| found.message.as_str());
    messages.collect::<Vec<_>>().join("; ")
}

fn count_errors(findings: &[Diagnostic]) -> String {
    let errors = findings
        .iter()
        .filter(|found| found.severity == Severity::Error);
    match errors.count() {
        1 => "it has 1 error".to_owned(),
        count => format!("it has {count} errors"),
    }
}

/// All findings in one line, each with its position and its hint.
fn render_findings(findings: &[Diagnostic]) -> String {
    let texts = findings.iter().map(|found| {
        let position = found.labels.first().map(|label| {
            let (line, _) = label.source.position(label.span.start);
            format!(" ({}:{line})", label.source.name)
        });
        let help = found.help.as_ref().map(|help| format!(" → {help}"));
        [
            found.message.as_str(),
            position.as_deref().unwrap_or_default(),
            help.as_deref().unwrap_or_default(),
        ]
        .concat()
    });
    texts.collect::<Vec<_>>().join("; ")
}
