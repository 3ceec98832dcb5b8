//! The sessions of a switch: `show users`, `clear line`, and the lock of the configuration.
//!
//! Written from the Cisco IOS Configuration Fundamentals Command Reference ("show users", "clear line", "configuration
//! mode exclusive") and from public recordings.

use super::{CommandOutput, Shell};
use crate::control::lock;

/// The number of the first VTY line among all lines: the console is before it.
const FIRST_VTY: u64 = 1;

impl Shell {
    /// The output of `show users`.
    pub(super) fn users(&self) -> String {
        let mut text = "    Line       User       Host(s)              Idle       Location\n\
                        \x20  0 con 0                idle                 00:12:04\n"
            .to_owned();
        let lines = lock(&self.shared.lines);
        let own = lines.line(self.connection).map(|line| line.number);
        for line in lines.iter() {
            let mark = if Some(line.number) == own { '*' } else { ' ' };
            let (number, vty, user) = (line.number + FIRST_VTY, line.number, &line.user);
            text.push_str(&format!(
                "{mark} {number:>3} vty {vty:<5} {user:<10} idle                 00:00:00 127.0.0.1\n"
            ));
        }
        text.push_str("\n  Interface    User               Mode         Idle     Peer Address\n\n");
        text
    }

    /// Ends the session of a line.
    pub(super) fn clear_line(&self, number: usize) -> CommandOutput {
        let number = u64::try_from(number).ok();
        let vty = number.and_then(|number| number.checked_sub(FIRST_VTY));
        if let Some(vty) = vty {
            lock(&self.shared.lines).clear(vty);
        }
        CommandOutput::text(" [OK]\n".to_owned())
    }

    /// The refusal of `configure terminal` while another session has the lock.
    pub(super) fn configuration_lock(&self) -> Option<String> {
        let device = lock(&self.shared.device);
        let locks = device
            .configuration
            .root
            .find("configuration mode exclusive auto");
        locks?;
        let lines = lock(&self.shared.lines);
        let holder = lines.other_in_configuration(self.connection)?;
        let (user, terminal) = (&holder.user, holder.number + FIRST_VTY);
        Some(format!(
            "Configuration mode locked exclusively by user '{user}' process '{}' from terminal '{terminal}'. \
             Please try later.\n",
            80 + terminal
        ))
    }
}
