//! What a platform promises about late writes of a process that no longer may change a device.

use std::fmt;

/// What becomes of a write that reaches a device after another process took the device over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuaranteeClass {
    /// The device refuses it: it locks its configuration, or checks the version that a write names.
    Locked,
    /// It cannot follow the first write of the new process, which ends the earlier sessions.
    Session,
    /// It is prevented by time limits only.
    Timing,
}

/// The guarantee of a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteGuarantee {
    /// The guarantee of all its devices.
    pub class: GuaranteeClass,
    /// What a device must be configured with to be locked.
    pub locked_with: Option<String>,
}

impl WriteGuarantee {
    pub(super) fn of(class: GuaranteeClass) -> Self {
        Self {
            class,
            locked_with: None,
        }
    }
}

impl GuaranteeClass {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            GuaranteeClass::Locked => "locked",
            GuaranteeClass::Session => "session",
            GuaranteeClass::Timing => "timing",
        }
    }
}

/// `session`, or `session; locked with ...`.
impl fmt::Display for WriteGuarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.class.word())?;
        match &self.locked_with {
            Some(needs) => write!(f, "; locked with `{needs}` on the device"),
            None => Ok(()),
        }
    }
}
