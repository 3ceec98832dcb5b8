//! Decides which faults fire, and when.

use std::time::Duration;

use super::{ConnectionStage, EndlessOutput, Fault, FaultKind, Trigger};

/// Faults that affect one command.
#[derive(Debug, Default, Clone)]
pub struct FaultDecision(Vec<Fault>);

impl FaultDecision {
    /// Whether a fault of this kind affects the command.
    pub fn has(&self, kind: FaultKind) -> bool {
        self.0.iter().any(|fault| fault.kind == kind)
    }

    /// The message of a fault of this kind: `None` without such a fault, an inner `None` for the
    /// device's default message.
    pub fn message(&self, kind: FaultKind) -> Option<Option<&str>> {
        self.last(kind).map(Fault::text)
    }

    /// The status of an answer that the request's result does not change.
    pub fn error_status(&self) -> Option<u16> {
        self.last(FaultKind::ErrorStatus)?.status()
    }

    /// Whether the command is executed later: an inner `None` until the device is resumed.
    pub fn deferral(&self) -> Option<Option<Duration>> {
        let late = self.last(FaultKind::LateEffect);
        late.or_else(|| self.last(FaultKind::Busy)).map(Fault::time)
    }

    /// Output that does not end.
    pub(crate) fn endless(&self) -> Option<EndlessOutput> {
        self.0.iter().find_map(|fault| match fault.kind {
            FaultKind::DripBytes => Some(EndlessOutput::Bytes),
            FaultKind::DripLines => Some(EndlessOutput::Lines),
            FaultKind::Flood => Some(EndlessOutput::Flood),
            _ => None,
        })
    }

    fn last(&self, kind: FaultKind) -> Option<&Fault> {
        self.0.iter().rev().find(|fault| fault.kind == kind)
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

    /// Removes all faults.
    pub fn clear(&mut self) {
        self.faults.clear();
    }

    /// Number of times that a fault has fired. Faults that are always active are not counted.
    pub fn fired(&self) -> u64 {
        self.faults.iter().map(|(_, fired)| fired).sum()
    }

    /// Number of bytes of output.
    pub fn sent_bytes(&self) -> u64 {
        self.bytes
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
        let fault = self.faults.iter().find(|(fault, _)| fault.kind == kind);
        fault.and_then(|(fault, _)| fault.time())
    }

    /// Counts a login and decides whether it is refused.
    pub fn refuses_login(&mut self) -> bool {
        self.logins += 1;
        let logins = self.logins;
        let refusal = self.faults.iter_mut().find(|(fault, _)| {
            let Trigger::FirstLogins(count) = fault.trigger else {
                return false;
            };
            match fault.kind {
                FaultKind::LoginRefused => logins <= count,
                FaultKind::LoginRefusedAt => logins == count,
                _ => false,
            }
        });
        if let Some((_, fired)) = refusal {
            *fired += 1;
            return true;
        }
        false
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

    /// Decides which faults affect a stage of a connection. A stage is not counted as a command.
    pub fn decide_stage(&mut self, stage: ConnectionStage) -> FaultDecision {
        let mut decision = FaultDecision::default();
        for (fault, fired) in &mut self.faults {
            if *fired == 0 && matches!(fault.trigger, Trigger::At(at) if at == stage) {
                *fired = 1;
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
                && let Trigger::AtByte(limit) = fault.trigger
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
