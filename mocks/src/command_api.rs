//! Command lines over HTTPS: JSON-RPC interfaces of switches, with the lines of a structural mock.
//!
//! Written from `docs/reference/devices/command_apis.md`. A request runs its lines in a session of
//! its own, up to the first line that is refused.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::control::lock;
use crate::fault::{self, FaultDecision, MockKind};
use crate::http_server::{self, HttpAnswer, HttpDevice, HttpRequest};
use crate::running::{ListenOptions, RunningMock};
use crate::structural::{
    StartError, StructuralConfiguration, StructuralInterface, StructuralOptions,
    StructuralTerminal, TerminalContext,
};
use crate::tls;

/// The form of requests and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandApiForm {
    /// One call with a list of lines, as EOS has it.
    RunCommands,
    /// A list of calls with one line each, as NX-OS has it.
    CallPerLine,
}

/// A kind of mock device.
#[derive(Debug)]
pub struct CommandApi;

/// The state of a running command API.
#[derive(Debug)]
pub struct CommandApiState {
    configuration: Arc<Mutex<StructuralConfiguration>>,
}

/// A running mock device with a command API.
pub type RunningCommandApi = RunningMock<CommandApiState>;

/// Data that all connections share.
struct ApiContext {
    form: CommandApiForm,
    /// The mode in which a request begins.
    mode: usize,
    /// User and password of HTTP authentication.
    account: String,
    terminal: TerminalContext,
}

/// The answer to one line: its output, or the message of the refusal.
type LineResult = Result<String, String>;

impl CommandApi {
    /// Starts a device on a port of 127.0.0.1; 0 selects a free one. Requests begin in `mode`.
    ///
    /// # Errors
    /// The device has no command line, its structure is invalid, or the port is in use.
    pub async fn start(
        options: StructuralOptions,
        (form, mode): (CommandApiForm, usize),
        port: u16,
    ) -> Result<RunningCommandApi, StartError> {
        fault::check_supported(&options.faults, MockKind::Structural)?;
        let StructuralInterface::CommandLine { structure, config } = options.interface else {
            return Err(StartError::NoCommandLine);
        };
        let configuration = StructuralConfiguration::new(&structure, &config)?;
        let configuration = Arc::new(Mutex::new(configuration));
        let state = CommandApiState {
            configuration: configuration.clone(),
        };
        let listen = ListenOptions {
            name: &options.name,
            port,
            faults: &options.faults,
            log: None,
            exchanges_in_memory: options.exchanges_in_memory,
        };
        let (running, listener) = RunningMock::listen(state, listen).await?;
        let account = format!("{}:{}", options.user, options.password);
        let context = ApiContext {
            form,
            mode,
            account: format!("Basic {}", STANDARD.encode(account)),
            terminal: TerminalContext {
                faults: running.faults.clone(),
                command_line: Arc::new(*structure),
                configuration,
                script: None,
                log: running.log.clone(),
            },
        };
        running.accept(listener, http_server::server(&running, context));
        Ok(running)
    }
}

impl RunningCommandApi {
    /// The SHA-256 fingerprint of the certificate.
    pub fn fingerprint(&self) -> String {
        tls::fingerprint()
    }

    /// The configuration as the device prints it.
    pub fn running_config(&self) -> String {
        lock(&self.device.configuration).text()
    }
}

impl HttpDevice for ApiContext {
    fn command(&self, request: &HttpRequest) -> String {
        request.line()
    }

    fn logged(&self, request: &HttpRequest) -> String {
        request.line()
    }

    /// Faults that act on a line are those of the terminal.
    fn execute(&self, request: &HttpRequest, _: &FaultDecision) -> HttpAnswer {
        let path = match self.form {
            CommandApiForm::RunCommands => "/command-api",
            CommandApiForm::CallPerLine => "/ins",
        };
        let (status, answer) = if request.header("authorization") != Some(self.account.as_str()) {
            (401, json!("Unable to authenticate user"))
        } else if request.method != "POST" || request.path != path {
            (404, json!("Not Found"))
        } else {
            match serde_json::from_slice(&request.body) {
                Ok(body) => self.answer(&body, request.connection),
                Err(error) => (400, json!({"error": {"message": error.to_string()}})),
            }
        };
        HttpAnswer {
            status,
            body: answer.to_string(),
            ..HttpAnswer::default()
        }
    }
}

impl ApiContext {
    fn answer(&self, body: &Value, connection: u64) -> (u16, Value) {
        match self.form {
            CommandApiForm::RunCommands => self.run_commands(body, connection),
            CommandApiForm::CallPerLine => self.calls(body, connection),
        }
    }

    /// Runs lines up to the first that is refused.
    fn run(&self, lines: &[&str], connection: u64) -> Vec<LineResult> {
        let mut terminal = StructuralTerminal::new(self.terminal.clone(), connection);
        terminal.begin_in(self.mode);
        let mut results = Vec::new();
        for line in lines {
            results.push(terminal.execute(line));
            if results.last().is_some_and(Result::is_err) {
                break;
            }
        }
        results
    }

    /// `runCmds`: an error has the answers up to the refused line.
    fn run_commands(&self, body: &Value, connection: u64) -> (u16, Value) {
        let id = &body["id"];
        let commands = body.pointer("/params/cmds").and_then(Value::as_array);
        let lines: Option<Vec<&str>> = commands.and_then(|commands| {
            let lines = commands.iter();
            let lines = lines.map(|command| command.as_str().or(command["cmd"].as_str()));
            lines.collect()
        });
        let (Some(lines), "runCmds", "text") = (
            lines,
            body["method"].as_str().unwrap_or_default(),
            body.pointer("/params/format")
                .and_then(Value::as_str)
                .unwrap_or_default(),
        ) else {
            let error = json!({"code": -32602, "message": "Invalid params"});
            return (200, json!({"jsonrpc": "2.0", "id": id, "error": error}));
        };
        let results = self.run(&lines, connection);
        let answers: Vec<Value> = results
            .iter()
            .map(|result| match result {
                Ok(output) => json!({"output": output}),
                Err(message) => json!({"output": "", "errors": [message]}),
            })
            .collect();
        let answer = match results.last() {
            Some(Err(message)) => {
                let (number, count) = (results.len(), lines.len());
                let line = lines[number - 1];
                let message = format!("CLI command {number} of {count} '{line}' failed: {message}");
                let error = json!({"code": 1002, "message": message, "data": answers});
                json!({"jsonrpc": "2.0", "id": id, "error": error})
            }
            _ => json!({"jsonrpc": "2.0", "id": id, "result": answers}),
        };
        (200, answer)
    }

    /// `cli_ascii`: each call has one line, and calls after a refused one have no answer. One call
    /// has its answer without a list.
    fn calls(&self, body: &Value, connection: u64) -> (u16, Value) {
        let one = std::slice::from_ref(body);
        let calls = body.as_array().map_or(one, Vec::as_slice);
        let lines = calls.iter();
        let lines = lines.map(|call| call.pointer("/params/cmd").and_then(Value::as_str));
        let lines: Option<Vec<&str>> = lines.collect();
        let is_text = calls.iter().all(|call| call["method"] == "cli_ascii");
        let Some(lines) = lines.filter(|_| is_text) else {
            let error = json!({"code": -32600, "message": "Invalid request"});
            return (400, json!({"jsonrpc": "2.0", "error": error, "id": null}));
        };
        let results = self.run(&lines, connection);
        let status = if results.iter().all(Result::is_ok) {
            200
        } else {
            500
        };
        let answers = results
            .iter()
            .zip(calls)
            .map(|(result, call)| match result {
                Ok(output) if output.is_empty() => {
                    json!({"jsonrpc": "2.0", "result": null, "id": call["id"]})
                }
                Ok(output) => {
                    json!({"jsonrpc": "2.0", "result": {"msg": output}, "id": call["id"]})
                }
                Err(message) => {
                    let error = json!({
                        "code": -32602,
                        "message": "Invalid params",
                        "data": {"msg": format!("{message}\n")},
                    });
                    json!({"jsonrpc": "2.0", "error": error, "id": call["id"]})
                }
            });
        let mut answers: Vec<Value> = answers.collect();
        let answer = match answers.len() {
            1 => answers.remove(0),
            _ => Value::Array(answers),
        };
        (status, answer)
    }
}
