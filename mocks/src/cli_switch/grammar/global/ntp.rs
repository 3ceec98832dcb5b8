//! Lines about the time, and its keys.

use crate::cli_switch::configure::{Command, Configuring};
use crate::cli_switch::effect::Reply;
use crate::cli_switch::type7;

/// A line with its key hidden, if it is not.
pub fn hidden_ntp_key(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    match words[..] {
        [ntp, key, number, kind, secret] => {
            format!("{ntp} {key} {number} {kind} {} 7", type7::encode(secret))
        }
        _ => text.to_owned(),
    }
}

pub fn ntp_key(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    if !command.is_set() {
        return configuring.remove(command);
    }
    let head = command.words[..5].join(" ");
    let text = match command.word(5) {
        "7" if type7::decode(command.word(4)).is_none() => {
            return Reply::Say("% Invalid encrypted password".to_owned());
        }
        "7" => command.text(),
        _ if configuring.device.hides_keys() => hidden_ntp_key(&head),
        _ => head,
    };
    configuring.set(command.entry(text))
}

/// Options are printed in the order of their names, whatever the order in which they were typed.
pub fn ntp_server(configuring: &mut Configuring<'_>, command: &Command) -> Reply {
    let identity = command.identity_text();
    if !command.is_set() {
        return configuring.remove(command);
    }
    if command.word(2) == "vrf" && !configuring.device.has_vrf(command.word(3)) {
        return Reply::Say(format!("% VRF {} not configured.", command.word(3)));
    }
    let mut options: Vec<Vec<String>> = Vec::new();
    let mut words = command.words[command.identity..].iter();
    while let Some(word) = words.next() {
        let mut option = vec![word.clone()];
        if word != "prefer" {
            option.extend(words.next().cloned());
        }
        options.retain(|other| other[0] != option[0]);
        options.push(option);
    }
    options.sort();
    let mut all = vec![identity];
    all.extend(options.into_iter().flatten());
    configuring.set(command.entry(all.join(" ")))
}
