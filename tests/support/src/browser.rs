//! Chromium without a window, controlled by the DevTools protocol over two pipes.
//!
//! Every wait is for a condition of the page, with a limit. Errors of the console are collected.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};

use crate::peer;

/// Limit for one answer of the browser.
const LIMIT: Duration = Duration::from_secs(60);

/// A browser with one page.
pub struct Browser {
    process: Child,
    requests: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    last: u64,
    /// Errors of the console and failed requests.
    pub errors: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Browser {
    /// Starts a browser. `None`: there is none, and the test is skipped.
    pub fn start() -> Option<Self> {
        if peer::skips(peer::missing_programs("test-tools.sh", &["chromium"])) {
            return None;
        }
        let profile = tempfile::tempdir().expect("a directory");
        // The browser reads requests from descriptor 3 and writes answers to descriptor 4.
        let script = "exec chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
                      --remote-debugging-pipe --user-data-dir=\"$1\" about:blank \
                      3<&0 4>&1 </dev/null >/dev/null";
        let mut process = Command::new("sh")
            .args(["-c", script, "sh"])
            .arg(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell starts");
        let requests = process.stdin.take().expect("a pipe");
        let answers = process.stdout.take().expect("a pipe");
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(answers);
            let mut message = Vec::new();
            while reader
                .read_until(0, &mut message)
                .is_ok_and(|read| read > 0)
            {
                message.pop();
                let value = serde_json::from_slice(&message).unwrap_or_default();
                if sender.send(value).is_err() {
                    break;
                }
                message.clear();
            }
        });
        let mut browser = Self {
            process,
            requests,
            messages,
            session: None,
            last: 0,
            errors: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", attach);
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser.resize(1280, 900);
        Some(browser)
    }

    /// Calls a method and returns its result.
    ///
    /// # Panics
    /// The browser does not answer in time, or answers with an error.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let mut request = json!({"id": self.last, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            request["sessionId"] = json!(session);
        }
        let mut bytes = request.to_string().into_bytes();
        bytes.push(0);
        self.requests.write_all(&bytes).expect("the browser runs");
        loop {
            let message = self.receive(method);
            if message["id"] == self.last {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
        }
    }

    /// The next message; collects errors.
    fn receive(&mut self, wait: &str) -> Value {
        let message = self.messages.recv_timeout(LIMIT);
        let message = message.unwrap_or_else(|error| panic!("{wait}: {error}"));
        let parameters = &message["params"];
        match message["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => self.errors.push(parameters.to_string()),
            "Runtime.consoleAPICalled" if parameters["type"] == "error" => {
                self.errors.push(parameters.to_string());
            }
            "Log.entryAdded" if parameters["entry"]["level"] == "error" => {
                self.errors.push(parameters["entry"].to_string());
            }
            _ => {}
        }
        message
    }

    /// The size of the page in pixels.
    pub fn resize(&mut self, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Whether pages are dark.
    pub fn set_dark(&mut self, is_dark: bool) {
        let scheme = if is_dark { "dark" } else { "light" };
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Opens a page and waits until it is loaded with its scripts.
    pub fn open(&mut self, url: &str) {
        let result = self.call("Page.navigate", json!({"url": url}));
        assert!(result["errorText"].is_null(), "{url}: {result}");
        self.wait_for("document.readyState === 'complete'");
    }

    /// The value of an expression, which can be a promise.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let parameters =
            json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let result = self.call("Runtime.evaluate", parameters);
        assert!(
            result["exceptionDetails"].is_null(),
            "{expression}: {result}"
        );
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true. A page that is replaced is evaluated again.
    ///
    /// # Panics
    /// It is not true within the limit.
    pub fn wait_for(&mut self, expression: &str) {
        let wait = format!(
            "new Promise((resolve, reject) => {{
                 const end = Date.now() + 20000;
                 const check = () => {{
                     let found = false;
                     try {{ found = Boolean({expression}); }} catch (error) {{ found = false; }}
                     if (found) resolve(true);
                     else if (Date.now() > end) resolve(false);
                     else setTimeout(check, 20);
                 }};
                 check();
             }})"
        );
        let parameters = json!({"expression": wait, "awaitPromise": true, "returnByValue": true});
        for _ in 0..10 {
            self.last += 1;
            let request = json!({
                "id": self.last, "method": "Runtime.evaluate", "params": parameters,
                "sessionId": self.session,
            });
            let mut bytes = request.to_string().into_bytes();
            bytes.push(0);
            self.requests.write_all(&bytes).expect("the browser runs");
            let answer = loop {
                let message = self.receive(expression);
                if message["id"] == self.last {
                    break message;
                }
            };
            match answer["result"]["result"]["value"].as_bool() {
                Some(true) => return,
                Some(false) => {
                    let page = self.evaluate("document.documentElement.outerHTML");
                    panic!("never true: {expression}: {page}");
                }
                // The page was replaced while the browser waited.
                None => {}
            }
        }
        panic!("the page is replaced again and again: {expression}");
    }

    /// Presses a key.
    pub fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({"type": kind, "key": key});
            if key.chars().count() == 1 && kind == "keyDown" {
                event["text"] = json!(key);
            }
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Writes an image of the page.
    pub fn screenshot(&mut self, path: &Path) {
        let result = self.call("Page.captureScreenshot", json!({"format": "png"}));
        let data = result["data"].as_str().expect("an image");
        let bytes = base64::engine::general_purpose::STANDARD.decode(data);
        std::fs::write(path, bytes.expect("base64")).expect("a file");
    }

    /// Asserts that no error was logged.
    #[track_caller]
    pub fn assert_no_errors(&mut self) {
        self.evaluate("1");
        assert!(self.errors.is_empty(), "{}", self.errors.join("\n"));
    }
}
