//! Paged output, with ` --More-- ` between pages.

use std::collections::VecDeque;

use super::{InputState, Shell};

impl Shell {
    /// Prints output page by page, then the prompt.
    pub(super) fn page(&mut self, text: &str) {
        let lines: VecDeque<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        self.print_page(lines, self.length.saturating_sub(1));
    }

    fn print_page(&mut self, mut lines: VecDeque<String>, count: usize) {
        let all = self.length == 0 || lines.len() <= count;
        let count = if all { lines.len() } else { count };
        for line in lines.drain(..count) {
            self.print(&line);
        }
        if lines.is_empty() {
            self.waiting = InputState::Line;
            self.prompt();
        } else {
            self.print(" --More-- ");
            self.waiting = InputState::Pager { rest: lines };
        }
    }

    pub(super) fn pager_key(&mut self, byte: u8) {
        let InputState::Pager { rest } = std::mem::replace(&mut self.waiting, InputState::Line)
        else {
            return;
        };
        self.out.extend([0x08; 9]);
        self.out.extend([b' '; 8]);
        self.out.extend([0x08; 9]);
        match byte {
            b' ' => self.print_page(rest, self.length.saturating_sub(1)),
            b'\r' | b'\n' => self.print_page(rest, 1),
            _ => {
                self.print("\n");
                self.prompt();
            }
        }
    }
}
