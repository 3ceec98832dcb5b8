//! The program on a pseudo terminal, as `script` of util-linux opens one.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A limit that only a defect exceeds.
const LIMIT: Duration = Duration::from_secs(120);

/// A program whose standard streams and controlling terminal are a pseudo terminal.
pub struct PseudoTerminal {
    child: Child,
    output: Receiver<Vec<u8>>,
    printed: String,
}

impl PseudoTerminal {
    /// Starts a program with the environment and directory of this command.
    ///
    /// # Panics
    ///
    /// If `script` is not installed.
    pub fn start(program: &Command) -> Self {
        let words = std::iter::once(program.get_program()).chain(program.get_args());
        let quoted: Vec<String> = words
            .map(|word| format!("'{}'", word.to_string_lossy().replace('\'', "'\\''")))
            .collect();
        let mut command = Command::new("script");
        command.args(["--quiet", "--return", "--flush", "--command"]);
        // A shell that waits beside the program would receive its signals and end with a code of its own.
        command.arg(format!("exec {}", quoted.join(" ")));
        command.arg("/dev/null").env("SHELL", "/bin/sh");
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(directory) = program.get_current_dir() {
            command.current_dir(directory);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("`script` starts");
        let mut stdout = child.stdout.take().expect("it is a pipe");
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(length @ 1..) = stdout.read(&mut chunk) {
                if sender.send(chunk[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self {
            child,
            output,
            printed: String::new(),
        }
    }

    /// Waits until the program has printed a text. Returns everything that it printed since the last call.
    ///
    /// # Panics
    ///
    /// If the program ends without it.
    pub fn wait_for(&mut self, text: &str) -> String {
        while !self.printed.contains(text) {
            let chunk = self.output.recv_timeout(LIMIT);
            let chunk = chunk.unwrap_or_else(|_| panic!("no `{text}` in:\n{}", self.printed));
            self.printed += &String::from_utf8_lossy(&chunk);
        }
        std::mem::take(&mut self.printed)
    }

    /// Types keys.
    ///
    /// # Panics
    ///
    /// If the program has ended.
    pub fn write(&mut self, keys: &str) {
        let stdin = self.child.stdin.as_mut().expect("it is a pipe");
        stdin.write_all(keys.as_bytes()).expect("the program reads");
        stdin.flush().expect("the program reads");
    }

    /// Waits for the end of the program. Returns the exit code and the rest of its output.
    ///
    /// # Panics
    ///
    /// If the program does not end.
    pub fn end(mut self) -> (Option<i32>, String) {
        loop {
            match self.output.recv_timeout(LIMIT) {
                Ok(chunk) => self.printed += &String::from_utf8_lossy(&chunk),
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                    panic!("it does not end:\n{}", self.printed)
                }
            }
        }
        let status = self.child.wait().expect("it has ended");
        (status.code(), self.printed)
    }
}
