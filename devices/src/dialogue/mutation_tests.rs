//! The engine with mutated recordings.

use switchtender_mutation::Campaign;

use super::tests::rules;
use super::{Command, Dialogue};

/// Commands that wait for answers.
const COMMANDS: [&str; 6] = [
    "terminal length 0",
    "show version",
    "configure terminal",
    "vlan 10",
    "name one",
    "end",
];

const RECORDINGS: [&str; 6] = [
    include_str!("../../../tests/fixtures/frr/01-exec.txt"),
    include_str!("../../../tests/fixtures/frr/02-errors.txt"),
    include_str!("../../../tests/fixtures/frr/03-config-modes.txt"),
    include_str!("../../../tests/fixtures/frr/05-write.txt"),
    include_str!("../../../tests/fixtures/frr/07-paging-more.txt"),
    include_str!("../../../tests/fixtures/frr/08-help.txt"),
];

const IOS: &str = "\r\nUnauthorized access prohibited\r\nsw1>enable\r\nPassword: \r\nsw1#terminal length 0\r\n\
sw1#show version\r\nCisco IOS Software, Version 17.3\r\n --More-- \x08\x08\x08\x08\x08\x08\x08\x08\x08        \
\x08\x08\x08\x08\x08\x08\x08\x08\x08Uptime is 1 week\r\nsw1#configure terminal\r\nEnter configuration commands, \
one per line.  End with CNTL/Z.\r\nsw1(config)#vlan 10\r\nsw1(config-vlan)#name one\r\n                 ^\r\n\
% Invalid input detected at '^' marker.\r\n\r\nsw1(config-vlan)#end\r\n\
*Jan  2 03:04:05.678: %SYS-5-CONFIG_I: Configured from console\r\nDelete it? [confirm]\r\nsw1#\x1b[2J\u{9b}";

#[test]
fn mutations_of_dialogues_do_not_panic() {
    let mut corpus = vec![IOS.as_bytes().to_vec()];
    for text in RECORDINGS {
        corpus.push(
            text.replace('\n', "\r\n")
                .replace("\\e", "\x1b")
                .into_bytes(),
        );
    }
    let platforms = [rules("cisco_ios"), rules("frr")];
    let campaign = Campaign {
        name: "dialogues",
        share: 280,
    };
    campaign.run(&corpus, |bytes| {
        // The same input has the same rules and pieces in each run.
        let mut dialogue = Dialogue::new(platforms[bytes.len() % 2].clone());
        for command in COMMANDS {
            dialogue.send(Command::line(command));
        }
        let mut events = 0;
        for piece in bytes.chunks(1 + bytes.len() % 97) {
            events += dialogue.receive(piece).len();
        }
        events += dialogue.on_idle().len();
        assert!(dialogue.buffered_bytes() <= 4 * bytes.len() + 1024);
        dialogue.last_output();
        dialogue.finish_at_end();
        events > COMMANDS.len()
    });
}
