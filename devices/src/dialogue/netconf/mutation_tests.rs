//! Framing and messages with mutated recordings.

use switchtender_mutation::Campaign;

use super::{FrameDecoder, Framing, Reply, ServerHello};
use crate::read::xml::{Namespaces, answer};

const CHUNKS: &str = "\n#60\n<rpc-reply xmlns=\"urn:ietf:params:xml:ns:netconf:base:1.0\" me\
\n#130\nssage-id=\"1\"><data><interfaces xmlns=\"urn:ietf:params:xml:ns:yang:ietf-interfaces\"><interface>\
<name>eth0 &amp; &#x31;</name></interface\n#56\n></interfaces></data><!-- x --><![CDATA[ ]]></rpc-reply>\n##\n";

const MARKED: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><nc:hello xmlns:nc=\"urn:ietf:params:xml:ns:netconf:base:1.0\">\
<nc:capabilities><nc:capability>urn:ietf:params:netconf:base:1.1</nc:capability></nc:capabilities>\
<nc:session-id>4</nc:session-id></nc:hello>]]>]]><rpc-reply xmlns=\"urn:ietf:params:xml:ns:netconf:base:1.0\">\
<rpc-error><error-tag>in-use</error-tag><error-message xml:lang=\"en\">locked</error-message></rpc-error></rpc-reply>]]>]]>";

#[test]
fn mutations_of_netconf_messages_do_not_panic() {
    let corpus = [CHUNKS, MARKED].map(|text| text.as_bytes().to_vec());
    let campaign = Campaign {
        name: "netconf",
        share: 100,
    };
    campaign.run(&corpus, |bytes| {
        let mut messages = Vec::new();
        for framing in [Framing::EndOfMessage, Framing::Chunked] {
            let mut decoder = FrameDecoder::new();
            decoder.framing = framing;
            for piece in bytes.chunks(1 + bytes.len() % 97) {
                decoder.receive(piece);
                while let Ok(Some(message)) = decoder.next_message() {
                    messages.push(message);
                }
            }
        }
        messages.push(String::from_utf8_lossy(bytes).into_owned());
        let mut is_understood = false;
        for message in messages {
            is_understood |= matches!(Reply::read(&message), Ok(Some(_)));
            is_understood |= ServerHello::read(&message).is_ok();
            let _ = answer(&message, &Namespaces::default());
        }
        is_understood
    });
}
