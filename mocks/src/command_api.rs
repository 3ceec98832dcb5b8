//! Command lines over HTTPS: JSON-RPC interfaces of switches, with the lines of another mock.
//!
//! Written from `docs/reference/devices/command_apis.md`. A request runs its lines in a session of
//! its own, up to the first line that is refused.

use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
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

/// Makes the session of a request, from the number of its connection.
type NewRequestSession = dyn Fn(u64) -> Box<dyn RequestSession> + Send + Sync;

/// The lines of a request.
pub(crate) trait RequestSession {
    /// Executes a line. Its output is requested as JSON, or as text.
    ///
    /// # Errors
    /// The device refuses the line.
    fn execute(&mut self, line: &str, is_json: bool) -> Result<RequestOutput, RefusedRequestLine>;
}

/// The output of a line.
#[derive(Debug)]
pub(crate) enum RequestOutput {
    Text(String),
    Json(Value),
    /// The output has no form in JSON.
    Unconverted,
}

/// Why a line of a request is refused.
#[derive(Debug)]
pub(crate) struct RefusedRequestLine {
    pub(crate) message: String,
    /// The line does not exist; otherwise it could not be executed.
    pub(crate) is_invalid: bool,
}

/// Data that all connections share.
pub(crate) struct CommandApiContext {
    form: CommandApiForm,
    /// User and password of HTTP authentication.
    account: String,
    new_session: Box<NewRequestSession>,
}

/// The answer to one line.
type LineResult = Result<RequestOutput, RefusedRequestLine>;

/// The session of a structural mock, which has text only.
struct StructuralSession(StructuralTerminal);

impl RequestSession for StructuralSession {
    fn execute(&mut self, line: &str, is_json: bool) -> Result<RequestOutput, RefusedRequestLine> {
        match self.0.execute(line) {
            Ok(_) if is_json => Ok(RequestOutput::Unconverted),
            Ok(output) => Ok(RequestOutput::Text(output)),
            Err(message) => Err(RefusedRequestLine {
                message,
                is_invalid: true,
            }),
        }
    }
}

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
        let terminal = TerminalContext {
            faults: running.faults.clone(),
            command_line: Arc::new(*structure),
            configuration,
            script: None,
            log: running.log.clone(),
        };
        let new_session = move |connection| {
            let mut session = StructuralTerminal::new(terminal.clone(), connection);
            session.begin_in(mode);
            Box::new(StructuralSession(session)) as Box<dyn RequestSession>
        };
        let login = (options.user.as_str(), options.password.as_str());
        let context = CommandApiContext::new(form, login, Box::new(new_session));
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

impl HttpDevice for CommandApiContext {
    fn command(&self, request: &HttpRequest) -> String {
        request.line()
    }

    fn logged(&self, request: &HttpRequest) -> String {
        request.line()
    }

    /// Faults that act on a line are those of the session.
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

impl CommandApiContext {
    /// `login` has user and password.
    pub(crate) fn new(
        form: CommandApiForm,
        (user, password): (&str, &str),
        new_session: Box<NewRequestSession>,
    ) -> Self {
        let account = STANDARD.encode(format!("{user}:{password}"));
        Self {
            form,
            account: format!("Basic {account}"),
            new_session,
        }
    }

    fn answer(&self, body: &Value, connection: u64) -> (u16, Value) {
        match self.form {
            CommandApiForm::RunCommands => self.run_commands(body, connection),
            CommandApiForm::CallPerLine => self.calls(body, connection),
        }
    }

    /// Runs lines up to the first that is refused. Each line has whether JSON is requested.
    fn run(&self, lines: &[(&str, bool)], connection: u64) -> Vec<LineResult> {
        let mut session = (self.new_session)(connection);
        let mut results = Vec::new();
        for (line, is_json) in lines {
            results.push(session.execute(line, *is_json));
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
        let format = body.pointer("/params/format").and_then(Value::as_str);
        let is_json = format.unwrap_or("json") == "json";
        let lines: Option<Vec<(&str, bool)>> = commands.and_then(|commands| {
            let lines = commands.iter();
            let lines = lines.map(|command| command.as_str().or(command["cmd"].as_str()));
            lines.map(|line| line.map(|line| (line, is_json))).collect()
        });
        let (Some(lines), "runCmds") = (lines, body["method"].as_str().unwrap_or_default()) else {
            let error = json!({"code": -32602, "message": "Invalid params"});
            return (200, json!({"jsonrpc": "2.0", "id": id, "error": error}));
        };
        let mut answers = Vec::new();
        let mut failure = None;
        for result in self.run(&lines, connection) {
            let (answer, failed) = match result {
                Ok(RequestOutput::Text(output)) => (json!({"output": output}), None),
                Ok(RequestOutput::Json(output)) => (output, None),
                Ok(RequestOutput::Unconverted) => (
                    json!({"errors": ["Command cannot be used over the API at this time"]}),
                    Some((1003, "unconverted command")),
                ),
                Err(RefusedRequestLine {
                    message,
                    is_invalid,
                }) => (
                    json!({"output": "", "errors": [message]}),
                    Some(if is_invalid {
                        (1002, "invalid command")
                    } else {
                        (1000, "could not run command")
                    }),
                ),
            };
            answers.push(answer);
            failure = failed;
            if failure.is_some() {
                break;
            }
        }
        let answer = match failure {
            Some((code, reason)) => {
                let (number, count) = (answers.len(), lines.len());
                let line = lines[number - 1].0;
                let message = format!("CLI command {number} of {count} '{line}' failed: {reason}");
                let error = json!({"code": code, "message": message, "data": answers});
                json!({"jsonrpc": "2.0", "id": id, "error": error})
            }
            None => json!({"jsonrpc": "2.0", "id": id, "result": answers}),
        };
        (200, answer)
    }

    /// `cli` and `cli_ascii`: each call has one line, and calls after a refused one have no answer.
    /// One call has its answer without a list.
    fn calls(&self, body: &Value, connection: u64) -> (u16, Value) {
        let one = std::slice::from_ref(body);
        let calls = body.as_array().map_or(one, Vec::as_slice);
        let lines: Option<Vec<(&str, bool)>> = calls
            .iter()
            .map(|call| {
                let is_json = match call["method"].as_str()? {
                    "cli" => true,
                    "cli_ascii" => false,
                    _ => return None,
                };
                let line = call.pointer("/params/cmd")?.as_str()?;
                Some((line, is_json))
            })
            .collect();
        let Some(lines) = lines else {
            let error = json!({"code": -32600, "message": "Invalid request"});
            return (400, json!({"jsonrpc": "2.0", "error": error, "id": null}));
        };
        let results = self.run(&lines, connection);
        let status = if results.iter().all(Result::is_ok) {
            200
        } else {
            500
        };
        let answers = results.into_iter().zip(calls).map(|(result, call)| {
            let result = match result {
                Ok(RequestOutput::Text(output)) if !output.is_empty() => json!({"msg": output}),
                Ok(RequestOutput::Json(output)) => json!({"body": output}),
                Ok(RequestOutput::Text(_) | RequestOutput::Unconverted) => Value::Null,
                Err(refusal) => {
                    let error = json!({
                        "code": -32602,
                        "message": "Invalid params",
                        "data": {"msg": format!("{}\n", refusal.message)},
                    });
                    return json!({"jsonrpc": "2.0", "error": error, "id": call["id"]});
                }
            };
            json!({"jsonrpc": "2.0", "result": result, "id": call["id"]})
        });
        let mut answers: Vec<Value> = answers.collect();
        let answer = match answers.len() {
            1 => answers.remove(0),
            _ => Value::Array(answers),
        };
        (status, answer)
    }
}
