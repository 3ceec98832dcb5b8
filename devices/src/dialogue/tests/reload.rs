//! Scheduled reloads: their questions, and messages that interrupt the dialogue.

use super::*;
use crate::dialogue::protect_rules::{ProtectRules, RevertMethod};

/// The message on all terminals, as recorded from a device.
const ABORTED: &str = "\r\n\r\n\r\n\u{7}***\r\n*** --- SHUTDOWN ABORTED ---\r\n***\r\n";
const SOON: &str = "\r\n\r\n\r\n\u{7}***\r\n*** --- SHUTDOWN in 0:05:00 ---\r\n***\r\n";
const SAVE: &str = "\r\nSystem configuration has been modified. Save? [yes/no]: ";
const PROCEED: &str = "Reload reason: Reload Command\r\nProceed with reload? [confirm]";

fn reload_rules() -> ProtectRules {
    let rules = rules("cisco_ios");
    let protect = rules.protect.of(RevertMethod::Reload);
    protect.expect("the platform has it").clone()
}

fn schedule(answers_save: bool) -> Dialogue {
    let protect = reload_rules();
    let unsaved = protect.reload.expect("it is a reload").unsaved;
    let mut dialogue = at_exec();
    dialogue.send(Command {
        line: Text::plain(&protect.confirm.commit),
        accept_questions: true,
        answer: unsaved.filter(|_| answers_save),
        ..Command::default()
    });
    dialogue
}

#[test]
fn reload_is_confirmed_if_nothing_is_unsaved() {
    let mut dialogue = schedule(false);
    let events = dialogue.receive(format!("reload in 10\r\n{PROCEED}").as_bytes());
    assert_eq!(events, [Event::Write(Text::plain("\r"))]);
    let answer = &answers_of(dialogue.receive(b"\r\ncore1#"))[0];
    assert!(answer.questions.iter().all(|question| question.accepted));
}

#[test]
fn reload_is_not_confirmed_after_the_question_about_the_configuration() {
    let mut dialogue = schedule(false);
    let printed = format!("reload in 10\r\n{SAVE}");
    assert_eq!(dialogue.receive(printed.as_bytes()), []);
    assert_eq!(dialogue.on_idle(), [Event::Write(Text::plain("n\r"))]);
    let printed = format!("n\r\n{PROCEED}");
    assert_eq!(dialogue.receive(printed.as_bytes()), []);
    assert_eq!(dialogue.on_idle(), [Event::Write(Text::plain("n"))]);
    let answer = &answers_of(dialogue.receive(b"\r\ncore1#"))[0];
    assert_eq!(answer.questions.len(), 2);
    assert!(answer.questions.iter().all(|question| !question.accepted));
}

#[test]
fn reload_is_confirmed_and_nothing_saved_with_the_answer_of_the_command() {
    let mut dialogue = schedule(true);
    let printed = format!("reload in 10\r\n{SAVE}");
    let events = dialogue.receive(printed.as_bytes());
    assert_eq!(events, [Event::Write(Text::plain("no\r"))]);
    let events = dialogue.receive(format!("no\r\n{PROCEED}").as_bytes());
    assert_eq!(events, [Event::Write(Text::plain("\r"))]);
    let answer = &answers_of(dialogue.receive(b"\r\ncore1#"))[0];
    assert!(answer.questions.iter().all(|question| question.accepted));
}

/// The outputs of two commands that were sent together.
fn outputs_of_two(printed: &str, cuts: &[usize]) -> Vec<Vec<String>> {
    let mut dialogue = at_exec();
    for line in ["reload cancel", "show reload"] {
        dialogue.send(Command::line(line));
    }
    let mut events = feed(&mut dialogue, printed.as_bytes(), cuts);
    events.extend(dialogue.on_idle());
    let answers = answers_of(events).into_iter();
    answers
        .map(|answer| {
            let lines = answer.output.into_iter();
            lines.filter(|line| !line.is_empty()).collect()
        })
        .collect()
}

#[test]
fn reload_messages_are_no_output() {
    let none = "No reload is scheduled.";
    let expected = [vec![], vec![none.to_owned()]];
    for printed in [
        format!("reload cancel\r\ncore1#{ABORTED}core1#show reload\r\n{none}\r\ncore1#"),
        // Without `logging synchronous`, the prompt is not printed again.
        format!("reload cancel\r\ncore1#{ABORTED}show reload\r\n{none}\r\ncore1#"),
        format!("reload cancel\r\ncore1#show reload\r\n{none}\r\n{SOON}core1#"),
        format!("reload cancel\r\ncore1#show reload\r\n{none}\r\ncore1#{SOON}"),
    ] {
        for cuts in [&[1][..], &[7], &[13, 2], &[4096]] {
            assert_eq!(
                outputs_of_two(&printed, cuts),
                expected,
                "{printed:?} {cuts:?}"
            );
        }
    }
}

/// Asterisks in a banner are no frame of a message.
#[test]
fn reload_message_frames_elsewhere_are_output() {
    let mut dialogue = at_exec();
    dialogue.send(Command::line("show running-config"));
    let banner = "banner motd ^C\r\n***\r\n*** Welcome\r\n***\r\n^C";
    let printed = format!("show running-config\r\n{banner}\r\nend\r\ncore1#");
    let answer = &answers_of(dialogue.receive(printed.as_bytes()))[0];
    let expected: Vec<&str> = banner.split("\r\n").chain(["end"]).collect();
    assert_eq!(answer.output, expected);
    assert_eq!(answer.log_positions, [0; 0]);
}
