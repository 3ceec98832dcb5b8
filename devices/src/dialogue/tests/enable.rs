//! The password of the privileged mode.

use super::*;

fn enable(value: Option<&str>) -> (Dialogue, Arc<CliRules>) {
    let rules = rules("cisco_ios");
    let mut dialogue = Dialogue::new(Arc::clone(&rules));
    let answers = answers_of(dialogue.receive(b"Welcome # to > core1\r\ncore1>"));
    assert_eq!(rules.modes[answers[0].prompt.mode].name, "user");
    let request = rules.modes[answers[0].prompt.mode].transitions[0]
        .secret
        .clone();
    dialogue.send(Command {
        line: Text::plain("enable"),
        secret: request.map(|request| SecretResponse {
            request,
            value: value.map(Text::secret),
        }),
        ..Command::default()
    });
    (dialogue, rules)
}

#[test]
fn enable_secret_is_sent_only_on_request() {
    let (mut dialogue, rules) = enable(Some("s3cret"));
    let events = dialogue.receive(b"enable\r\ncore1#");
    let answer = &answers_of(events.clone())[0];
    assert_eq!(events.len(), 1, "nothing was sent: {events:?}");
    assert_eq!(answer.secret, SecretState::NotRequested);
    assert_eq!(rules.modes[answer.prompt.mode].name, "exec");
}

#[test]
fn enable_secret_is_sent_once() {
    let (mut dialogue, rules) = enable(Some("s3cret"));
    let mut secret = Text::secret("s3cret");
    secret.push("\r");
    assert_eq!(
        dialogue.receive(b"enable\r\nPassword: "),
        [Event::Write(secret)]
    );
    let answer = &answers_of(dialogue.receive(b"\r\ncore1#"))[0];
    assert_eq!(answer.secret, SecretState::Sent);
    assert_eq!(rules.modes[answer.prompt.mode].name, "exec");
}

#[test]
fn enable_secret_is_not_repeated_if_wrong() {
    let (mut dialogue, rules) = enable(Some("wrong"));
    assert_eq!(dialogue.receive(b"enable\r\nPassword: ").len(), 1);
    let empty = [Event::Write(Text::plain("\r"))];
    assert_eq!(dialogue.receive(b"\r\nPassword: "), empty);
    assert_eq!(dialogue.receive(b"\r\nPassword: "), empty);
    let answer = &answers_of(dialogue.receive(b"\r\n% Bad secrets\r\n\r\ncore1>"))[0];
    assert_eq!(answer.secret, SecretState::Wrong);
    assert_eq!(rules.modes[answer.prompt.mode].name, "user");
}

#[test]
fn enable_request_without_a_secret_gets_empty_lines() {
    let (mut dialogue, _) = enable(None);
    let empty = Event::Write(Text::plain("\r"));
    assert_eq!(dialogue.receive(b"enable\r\nPassword: "), [empty]);
    let answer = &answers_of(dialogue.receive(b"\r\n% Access denied\r\n\r\ncore1>"))[0];
    assert_eq!(answer.secret, SecretState::Missing);
}

#[test]
fn enable_request_in_unknown_words_is_answered_when_idle() {
    let (mut dialogue, _) = enable(Some("s3cret"));
    assert_eq!(dialogue.receive(b"enable\r\nKennwort? "), []);
    let mut secret = Text::secret("s3cret");
    secret.push("\r");
    assert_eq!(dialogue.on_idle(), [Event::Write(secret)]);
}
