//! `POST /mgmt/tm/util/bash`: a command of the shell. The status is 200 for failed commands, too, and their output is in
//! `commandResult`.

use serde_json::{Value, json};

use super::{WriteResult, change_singleton};
use crate::load_balancer::message::ApiRequest;
use crate::load_balancer::refusal::Refusal;
use crate::load_balancer::tree::{Fields, Tree};

/// Runs `tmsh modify sys ntp|dns|global-settings FIELD VALUE`; any other command is a syntax error.
pub(super) fn run(tree: &mut Tree, request: &ApiRequest) -> Result<WriteResult, Refusal> {
    let text = |name: &str| request.body.get(name).and_then(Value::as_str);
    if text("command") != Some("run") {
        return Err(Refusal::missing("command"));
    }
    let arguments = text("utilCmdArgs").ok_or_else(|| Refusal::missing("utilCmdArgs"))?;
    let command = arguments.strip_prefix("-c \"");
    let command = command.and_then(|command| command.strip_suffix('"'));
    let output = match command {
        Some(command) => modify(tree, command),
        None => Some(format!("bash: {arguments}: No such file or directory\n")),
    };
    let mut answer = json!({
        "kind": "tm:util:bash:runstate", "command": "run", "utilCmdArgs": arguments,
    });
    if let Some(output) = output {
        answer["commandResult"] = output.into();
    }
    Ok(WriteResult::answer(answer))
}

/// Changes a setting. Returns the output; none after success.
fn modify(tree: &mut Tree, command: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let ["tmsh", "modify", "sys", module, field, value] = words[..] else {
        let last = words.last().copied().unwrap_or_default();
        return Some(format!("Syntax Error: unexpected argument \"{last}\"\n"));
    };
    let body = Fields::from_iter([(field.to_owned(), Value::from(value))]);
    let path = format!("sys/{module}");
    if tree.singletons.contains_key(&path) {
        let changed = change_singleton(tree, &path, "PATCH", &body, &["sys", module]);
        let refused = changed.err()?;
        Some(format!("Syntax Error: {}\n", refused.message))
    } else {
        Some(format!("Syntax Error: \"{module}\" unknown property\n"))
    }
}
