//! Decides which faults fire, and when.

use std::time::Duration;

use super::{Fault, FaultKind, Trigger};

/// Faults that affect one command.
#[derive(Debug, Default, Clone)]
pub struct FaultDecision(Vec<Fault>);

impl FaultDecision {
    /// Whether a fault of this kind affects the command.
    pub fn has(&self, kind: FaultKind) -> bool {
        self.0.iter().any(|fault| fault.kind == kind)
    }

    /// The message of a refusal: `None` if the command is not refused, an inner `None` for the
    /// device's default message.
    pub fn refusal(&self) -> Option<Option<&str>> {
        let mut refusals = self.0.iter().rev();
        let refusal = refusals.find(|fault| fault.kind == FaultKind::Refuse)?;
        Some(refusal.text())
    }
}

/// The faults of one device, and how often each has fired.
#[derive(Debug, Default)]
pub struct FaultPlan {
    faults: Vec<(Fault, u64)>,
    commands: u64,
    bytes: u64,
    logins: u64,
}

impl FaultPlan {
    /// A plan in which no fault has fired.
    pub fn new(faults: &[Fault]) -> Self {
        FaultPlan {
            faults: faults.iter().map(|fault| (fault.clone(), 0)).collect(),
            ..FaultPlan::default()
        }
    }

    /// The latency of the network; zero by default.
    pub fn latency(&self) -> Duration {
        self.pause(FaultKind::Latency).unwrap_or_default()
    }

    /// The pause between pieces of output; `None` if output is not slowed down.
    pub fn output_pause(&self) -> Option<Duration> {
        self.pause(FaultKind::Slow)
    }

    fn pause(&self, kind: FaultKind) -> Option<Duration> {
        self.faults
            .iter()
            .find_map(|(fault, _)| match fault.trigger {
                Trigger::Always { pause } if fault.kind == kind => Some(pause),
                _ => None,
            })
    }

    /// Counts a login and decides whether it is refused.
    pub fn refuses_login(&mut self) -> bool {
        self.logins += 1;
        let logins = self.logins;
        self.faults.iter().any(|(fault, _)| {
            fault.kind == FaultKind::LoginRefused
                && matches!(fault.trigger, Trigger::Limit(count) if logins <= count)
        })
    }

    /// Counts a command (a line at a prompt, or `METHOD /path`) and decides which faults affect it.
    pub fn decide(&mut self, command: &str) -> FaultDecision {
        let earlier_commands = self.commands;
        self.commands += 1;
        let mut decision = FaultDecision::default();
        for (fault, fired) in &mut self.faults {
            if fault.trigger.fires(command, earlier_commands, *fired) {
                *fired += 1;
                decision.0.push(fault.clone());
            }
        }
        decision
    }

    /// Counts output. Returns the number of these bytes after which the connection is closed.
    pub fn cut_output(&mut self, length: usize) -> Option<usize> {
        let before = self.bytes;
        self.bytes += length as u64;
        let after = self.bytes;
        for (fault, fired) in &mut self.faults {
            if fault.kind == FaultKind::DropAtByte
                && let Trigger::Limit(limit) = fault.trigger
                && *fired == 0
                && after >= limit
            {
                *fired = 1;
                return Some(usize::try_from(limit.saturating_sub(before)).unwrap_or(length));
            }
        }
        None
    }
}

/// Random bytes without a prompt: control characters and broken UTF-8. The same on each call.
pub fn garbage() -> Vec<u8> {
    let mut state: u32 = 0x2545_f491;
    (0..256)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            // No byte can complete a prompt by chance.
            match (state >> 24) as u8 {
                b'#' | b'>' | b'$' | b'\n' => 0xff,
                byte => byte,
            }
        })
        .collect()
}
