//! The engine with transcripts, split at random.

mod enable;
mod reload;

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;

use super::cli_rules::MessageClass;
use super::*;
use crate::diagnostic::Source;
use crate::document::{Findings, read};
use crate::secret::Text;

pub(crate) fn rules(platform: &str) -> Arc<CliRules> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("definitions")
        .join(platform)
        .join("platform.toml");
    let text = std::fs::read_to_string(&path).expect("the definition is there");
    let source = Source::new(path.display().to_string(), text);
    let findings = Findings::new(&source);
    let rules = read(&findings, CliRules::read);
    let messages = findings.into_list().into_iter().map(|found| found.message);
    assert_eq!(messages.collect::<Vec<_>>(), [""; 0], "{platform}");
    Arc::new(rules.expect("read"))
}

/// A recorded session: the bytes as the device sent them, and the lines that were typed.
fn recording(name: &str) -> (Vec<u8>, Vec<String>) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/frr");
    let text = std::fs::read_to_string(directory.join(format!("{name}.txt"))).expect("there");
    let typed = std::fs::read_to_string(directory.join(format!("{name}.in"))).expect("there");
    // Lines with ### are the recorder's; one that follows a prompt was put in the middle of a line.
    let mut device = String::new();
    for line in text.lines() {
        if line.starts_with("###") {
            if device.ends_with("# \n") {
                device.pop();
            }
            continue;
        }
        device.push_str(line);
        device.push('\n');
    }
    let device = device
        .replace("\\e", "\x1b")
        .replace("\\r", "\r")
        .replace('\n', "\r\n");
    let typed = typed
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    (device.into_bytes(), typed)
}

/// The answers that a person would read off the recording.
fn expected_answers(device: &[u8], typed: &[String]) -> Vec<(Vec<String>, String)> {
    let text = String::from_utf8_lossy(device).replace("\r\n", "\n");
    let mut answers = Vec::new();
    let mut rest = text.as_str();
    for (index, line) in typed.iter().enumerate() {
        let start = rest.find(&format!("{line}\n")).expect("echo") + line.len() + 1;
        rest = &rest[start..];
        let Some(next) = typed.get(index + 1) else {
            break;
        };
        // The next echo stands behind a prompt.
        let end = ["# ", "> "]
            .iter()
            .filter_map(|end| rest.find(&format!("{end}{next}\n")))
            .min()
            .expect("next prompt");
        let before = &rest[..=end];
        let mut output: Vec<_> = before.split('\n').map(str::to_owned).collect();
        let prompt = output.pop().expect("there is always one");
        answers.push((output, prompt));
        rest = &rest[end..];
    }
    answers
}

fn answers_of(events: Vec<Event>) -> Vec<Answer> {
    events
        .into_iter()
        .filter_map(|event| match event {
            Event::Answered(answer) => Some(answer),
            Event::Write(_) | Event::LimitExceeded(_) => None,
        })
        .collect()
}

fn feed(dialogue: &mut Dialogue, bytes: &[u8], cuts: &[usize]) -> Vec<Event> {
    let mut events = Vec::new();
    let mut start = 0;
    let mut sizes = cuts.iter().cycle();
    while start < bytes.len() {
        let end = bytes.len().min(start + sizes.next().expect("endless"));
        events.extend(dialogue.receive(&bytes[start..end]));
        start = end;
    }
    events
}

const PLAIN_RECORDINGS: [&str; 3] = ["01-exec", "02-errors", "04-running-config"];

/// Lines that are typed with a newline each; keys are left out of these recordings' comparison.
fn replay(name: &str, cuts: &[usize]) {
    let (device, typed) = recording(name);
    let typed: Vec<_> = typed
        .into_iter()
        .filter(|line| !line.starts_with("!key"))
        .map(|line| line.trim_start_matches("!type ").to_owned())
        .collect();
    let mut dialogue = Dialogue::new(rules("frr"));
    // All commands are pending from the start: the hardest case.
    for line in &typed {
        dialogue.send(Command::line(line.as_str()));
    }
    let answers = answers_of(feed(&mut dialogue, &device, cuts));
    let got: Vec<_> = answers
        .into_iter()
        .skip(1)
        .map(|answer| (answer.output, answer.prompt.text))
        .collect();
    let expected = expected_answers(&device, &typed);
    assert_eq!(got.len(), expected.len(), "{name}");
    for (index, (got, expected)) in got.iter().zip(&expected).enumerate() {
        assert_eq!(got, expected, "{name}: `{}`", typed[index]);
    }
}

#[test]
fn recorded_sessions_assign_output_to_commands() {
    for name in PLAIN_RECORDINGS {
        replay(name, &[usize::MAX / 2]);
        replay(name, &[1]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_pieces_do_not_matter(
        name in prop::sample::select(&PLAIN_RECORDINGS[..2]),
        cuts in prop::collection::vec(1usize..200, 1..20),
    ) {
        replay(name, &cuts);
    }

    #[test]
    fn garbage_never_panics_and_is_never_an_answer(
        garbage in prop::collection::vec(any::<u8>(), 0..2000),
        cuts in prop::collection::vec(1usize..100, 1..10),
    ) {
        let mut dialogue = at_exec();
        dialogue.send(Command::line("show version"));
        let events = feed(&mut dialogue, &garbage, &cuts);
        prop_assert!(answers_of(events).is_empty());
        dialogue.on_idle();
    }
}

/// A dialogue with an IOS device after its first prompt.
fn at_exec() -> Dialogue {
    let mut dialogue = Dialogue::new(rules("cisco_ios"));
    let answers = answers_of(dialogue.receive(b"\r\ncore1#"));
    assert_eq!(answers.len(), 1);
    dialogue
}

#[test]
fn batch_is_answered_in_order() {
    let (device, _) = recording("09-bulk");
    let lines = [
        "configure terminal",
        "interface eth3",
        "description bulk",
        "exit",
        "bogus",
        "ip route 10.77.0.0/16 Null0",
        "end",
        "show running-config",
        "",
    ];
    let rules = rules("frr");
    let mut dialogue = Dialogue::new(Arc::clone(&rules));
    for line in lines {
        dialogue.send(Command::line(line));
    }
    let answers = answers_of(feed(&mut dialogue, &device, &[7]));
    let verdicts: Vec<_> = lines
        .iter()
        .zip(answers.iter().skip(1))
        .map(|(line, answer)| Classification::new(&rules, &Command::line(*line), answer).refusal)
        .collect();
    let refused: Vec<_> = lines
        .iter()
        .zip(&verdicts)
        .filter(|(_, verdict)| verdict.is_some())
        .collect();
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!(*refused[0].0, "bogus");
    assert!(answers[8].output.contains(&" description bulk".to_owned()));
}

#[test]
fn pager_is_advanced_and_removed() {
    let mut dialogue = at_exec();
    dialogue.send(Command::line("show version"));
    let events = dialogue.receive(b"show version\r\nline 1\r\n --More-- ");
    assert_eq!(events, [Event::Write(Text::plain(" "))]);
    let events = dialogue.receive(
        b"\x08\x08\x08\x08\x08\x08\x08\x08\x08        \x08\x08\x08\x08\x08\x08\x08\x08\x08 line 2\r\ncore1#",
    );
    let answers = answers_of(events);
    assert_eq!(answers[0].output, ["line 1", " line 2"]);
}

#[test]
fn prompt_is_found_after_any_banner() {
    let banner = b"****#\r\n# keep out #\r\nSite-A#not this\r\nlab>\r\n\r\ncore1.lab#";
    for cuts in [[1], [7], [10_000]] {
        let rules = rules("cisco_ios");
        let mut dialogue = Dialogue::new(Arc::clone(&rules));
        let mut answered = answers_of(feed(&mut dialogue, banner, &cuts));
        assert!(!answered.is_empty());
        // A cut after `Site-A#` looks like a prompt; the echo puts it right.
        dialogue.send(Command::line("terminal length 0"));
        dialogue.send(Command::line("show clock"));
        answered = answers_of(feed(
            &mut dialogue,
            b"terminal length 0\r\ncore1.lab#show clock\r\n12:00:00\r\ncore1.lab#",
            &cuts,
        ));
        let outputs: Vec<_> = answered.iter().map(|answer| &answer.output).collect();
        assert_eq!(outputs, [&vec![], &vec!["12:00:00".to_owned()]], "{cuts:?}");
    }
}

#[test]
fn question_in_the_rules_is_accepted() {
    let mut dialogue = at_exec();
    dialogue.send(Command {
        line: Text::plain("copy running-config startup-config"),
        accept_questions: true,
        ..Command::default()
    });
    assert_eq!(
        dialogue.receive(
            b"copy running-config startup-config\r\nDestination filename [startup-config]? "
        ),
        [Event::Write(Text::plain("\r"))]
    );
    let answer =
        &answers_of(dialogue.receive(b"\r\nBuilding configuration...\r\n[OK]\r\ncore1#"))[0];
    assert!(answer.questions[0].accepted);
    assert!(answer.output.contains(&"[OK]".to_owned()));
}

#[test]
fn question_outside_the_rules_is_declined() {
    let rules = rules("cisco_ios");
    let cases = [
        ("reload", "Proceed with reload? [confirm]", "n"),
        (
            "crypto key zeroize rsa",
            "Do you really want to remove these keys? [yes/no]: ",
            "n\r",
        ),
        (
            "default interface Gi1/0/1",
            "This will wipe it (y/n)?",
            "n\r",
        ),
        (
            "shwo version",
            "Translating \"shwo\"...domain server (255.255.255.255)",
            "\u{1e}",
        ),
    ];
    for (command, question, declined) in cases {
        let mut dialogue = at_exec();
        let input = Command {
            line: Text::plain(command),
            accept_questions: true,
            ..Command::default()
        };
        dialogue.send(input.clone());
        let printed = format!("{command}\r\n{question}");
        assert_eq!(dialogue.receive(printed.as_bytes()), [], "{command}");
        assert_eq!(dialogue.on_idle(), [Event::Write(Text::plain(declined))]);
        let answer = &answers_of(dialogue.receive(b"n\r\ncore1#"))[0];
        let verdict = Classification::new(&rules, &input, answer);
        assert_eq!(
            verdict.refusal,
            Some(Refusal::Question(question.trim().to_owned()))
        );
    }
}

#[test]
fn text_is_sent_on_request() {
    let rules = rules("cisco_ios");
    let mut dialogue = at_exec();
    let input = Command {
        line: Text::plain("banner motd ^"),
        body: vec![Text::plain("core1#"), Text::plain(""), Text::plain("bye^")],
        ..Command::default()
    };
    assert_eq!(dialogue.send(input.clone()).reveal(), "banner motd ^\r");
    let events =
        dialogue.receive(b"banner motd ^\r\nEnter TEXT message.  End with the character '^'.\r\n");
    assert_eq!(events, [Event::Write(Text::plain("core1#\r\rbye^\r"))]);
    // The text holds what looks like a prompt, cut where it hurts.
    assert_eq!(dialogue.receive(b"core1#"), []);
    let answers = answers_of(dialogue.receive(b"\r\n\r\nbye^\r\ncore1(config)#"));
    let verdict = Classification::new(&rules, &input, &answers[0]);
    assert_eq!((verdict.refusal, verdict.messages), (None, vec![]));
}

#[test]
fn text_is_not_sent_after_a_refusal() {
    let rules = rules("cisco_ios");
    let mut dialogue = at_exec();
    let input = Command {
        line: Text::plain("banner frob ^"),
        body: vec![Text::plain("reload^")],
        ..Command::default()
    };
    dialogue.send(input.clone());
    let events = dialogue.receive(
        b"banner frob ^\r\n              ^\r\n% Invalid input detected at '^' marker.\r\n\r\ncore1#",
    );
    assert_eq!(events.len(), 1);
    let verdict = Classification::new(&rules, &input, &answers_of(events)[0]);
    assert_eq!(
        verdict.refusal,
        Some(Refusal::Error {
            class: MessageClass::Command,
            message: "% Invalid input detected at '^' marker. (at `frob`)".to_owned()
        })
    );
}

#[test]
fn output_lines_have_a_class() {
    let cases: [(&str, Option<MessageClass>); 22] = [
        (
            "% Invalid input detected at '^' marker.",
            Some(MessageClass::Command),
        ),
        ("% Incomplete command.", Some(MessageClass::Command)),
        ("% Ambiguous command:  \"sh\"", Some(MessageClass::Command)),
        (
            "% Unknown command or computer name, or unable to find computer address",
            Some(MessageClass::Command),
        ),
        ("%Unrecognized command", Some(MessageClass::Command)),
        (
            "Command rejected: An interface whose trunk encapsulation is \"Auto\" can not be configured to \"trunk\" mode.",
            Some(MessageClass::Command),
        ),
        (
            "% Command rejected: not allowed",
            Some(MessageClass::Command),
        ),
        (
            "% Bad mask /33 for address 10.0.0.1",
            Some(MessageClass::Command),
        ),
        ("%Not a valid host address - x", Some(MessageClass::Command)),
        (
            "% 10.0.0.0 overlaps with Vlan10",
            Some(MessageClass::Command),
        ),
        (
            "Command is only allowed on VLAN interfaces",
            Some(MessageClass::Command),
        ),
        (
            "Default VLAN 1 may not be deleted.",
            Some(MessageClass::Command),
        ),
        ("% VLAN 42 does not exist", Some(MessageClass::Command)),
        (
            "% Access VLAN does not exist. Creating vlan 42",
            Some(MessageClass::Warning),
        ),
        (
            "Command authorization failed.",
            Some(MessageClass::Authorization),
        ),
        ("% Authorization failed.", Some(MessageClass::Fatal)),
        ("% Error in authentication.", Some(MessageClass::Fatal)),
        (
            "%Error opening tftp://x (Timed out)",
            Some(MessageClass::Command),
        ),
        (
            "% Warning: use of this command may cause loops",
            Some(MessageClass::Warning),
        ),
        (
            "% Interface GigabitEthernet0/1 IPv4 disabled and address(es) removed due to enabling VRF BLUE",
            Some(MessageClass::Warning),
        ),
        ("Building configuration...", Some(MessageClass::Ignore)),
        ("Enable secret takes precedence", None),
    ];
    let rules = rules("cisco_ios");
    for (line, class) in cases {
        assert_eq!(rules.message_class(line), class, "{line}");
    }
}

#[test]
fn log_messages_are_ignored() {
    let mut dialogue = at_exec();
    dialogue.send(Command::line("end"));
    dialogue.send(Command::line("show clock"));
    let answers = answers_of(dialogue.receive(
        b"\r\n*Mar  1 00:01:02.003: %SYS-5-CONFIG_I: Configured from console by vty0\r\ncore1#end\r\n\
          core1#show clock\r\nLoad for five secs: 1%/0%; one minute: 2%\r\n\
          Mar  1 00:01:03: %LINK-3-UPDOWN: Interface Gi1/0/1, changed state to up\r\n12:00\r\ncore1#",
    ));
    let outputs: Vec<_> = answers.iter().map(|answer| &answer.output).collect();
    assert_eq!(outputs, [&vec![], &vec!["12:00".to_owned()]]);
}

#[test]
fn log_message_after_the_prompt_does_not_hide_it() {
    let mut dialogue = at_exec();
    dialogue.send(Command::line("end"));
    let events = dialogue.receive(
        b"end\r\ncore1#\r\n*Mar  1 00:01:02.003: %SYS-5-CONFIG_I: Configured from console by vty0\r\n",
    );
    assert_eq!(events, []);
    let answers = answers_of(dialogue.on_idle());
    assert_eq!(answers[0].output, [""; 0]);
}

#[test]
fn prompt_may_truncate_or_change_the_host_name() {
    let mut dialogue = Dialogue::new(rules("cisco_ios"));
    dialogue.receive(b"\r\na-very-long-host-name-1#");
    let exchanges = [
        ("configure terminal", "a-very-long-host(config)#"),
        ("interface Gi1/0/1", "a-very-long-hos(config-if)#"),
        ("hostname core9", "core9(config)#"),
        ("end", "core9#"),
    ];
    for (line, prompt) in exchanges {
        dialogue.send(Command::line(line));
        let answers = answers_of(dialogue.receive(format!("{line}\r\n{prompt}").as_bytes()));
        assert_eq!(answers.len(), 1, "{line}");
        assert_eq!(answers[0].prompt.text, prompt);
    }
    // Output that ends like a prompt of another device is none.
    dialogue.send(Command::line("show users"));
    assert_eq!(dialogue.receive(b"show users\r\nother#"), []);
}

#[test]
fn silence_is_no_answer() {
    let mut dialogue = at_exec();
    dialogue.send(Command::line("show version"));
    assert_eq!(dialogue.on_idle(), []);
    assert_eq!(dialogue.receive(b"show version\r\nCisco IOS"), []);
    assert_eq!(dialogue.on_idle(), []);
    assert_eq!(dialogue.last_output(), "Cisco IOS");
    assert_eq!(
        dialogue.current_command().map(Text::to_string).as_deref(),
        Some("show version")
    );
}

#[test]
fn prompt_without_an_echo_counts_when_idle() {
    let mut dialogue = at_exec();
    dialogue.send(Command::line("show clock"));
    assert_eq!(dialogue.receive(b"\r\n12:00\r\ncore1#"), []);
    let answers = answers_of(dialogue.on_idle());
    assert_eq!(answers[0].output, ["", "12:00"]);
}
