//! Framing of messages (RFC 6242): up to an end marker, or in chunks.

use crate::secret::Text;

/// The end of a message in base:1.0.
const END_OF_MESSAGE: &[u8] = b"]]>]]>";
/// Digits of the size of a chunk: at most 4294967295.
const MAX_SIZE_DIGITS: usize = 10;
/// Bytes of a message. A configuration of 100,000 lines has fewer than 20 MiB.
const MAX_MESSAGE: usize = 128 << 20;

/// How messages are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// By `]]>]]>`: the hello of each session, and all messages of base:1.0.
    EndOfMessage,
    /// By the sizes of their chunks: base:1.1.
    Chunked,
}

/// Why received bytes are not a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FramingError {
    #[error("a chunk does not begin with its size")]
    ChunkSize,
    #[error("a message has more than {} MiB", MAX_MESSAGE >> 20)]
    TooLong,
    #[error("a message is not UTF-8")]
    Encoding,
}

impl Framing {
    /// The bytes of a message.
    pub(crate) fn encode(self, message: Text) -> Text {
        let mut framed = Text::new();
        match self {
            Framing::EndOfMessage => {
                framed.append(message);
                framed.push("]]>]]>");
            }
            Framing::Chunked => {
                framed.push(format!("\n#{}\n", message.reveal().len()));
                framed.append(message);
                framed.push("\n##\n");
            }
        }
        framed
    }
}

/// Received bytes, and the messages in them.
#[derive(Debug)]
pub(crate) struct FrameDecoder {
    pub(crate) framing: Framing,
    received: Vec<u8>,
    /// Bytes of `received` that contain no end marker.
    searched: usize,
    /// The chunks of the current message.
    message: Vec<u8>,
    /// Bytes that the current chunk lacks.
    missing: usize,
}

impl FrameDecoder {
    /// A decoder for the first message, the hello.
    pub(crate) fn new() -> Self {
        Self {
            framing: Framing::EndOfMessage,
            received: Vec::new(),
            searched: 0,
            message: Vec::new(),
            missing: 0,
        }
    }

    pub(crate) fn receive(&mut self, bytes: &[u8]) {
        self.received.extend_from_slice(bytes);
    }

    /// The next complete message; `None` if it needs more bytes.
    ///
    /// # Errors
    /// The bytes are not framed, or the message is too long. The session cannot continue.
    pub(crate) fn next_message(&mut self) -> Result<Option<String>, FramingError> {
        let message = match self.framing {
            Framing::EndOfMessage => self.until_marker()?,
            Framing::Chunked => self.take_chunked()?,
        };
        let message = message.map(String::from_utf8).transpose();
        message.map_err(|_| FramingError::Encoding)
    }

    fn until_marker(&mut self) -> Result<Option<Vec<u8>>, FramingError> {
        let length = END_OF_MESSAGE.len();
        let mut windows = self.received[self.searched..].windows(length);
        let Some(found) = windows.position(|window| window == END_OF_MESSAGE) else {
            self.searched = self.received.len().saturating_sub(length - 1);
            return if self.received.len() <= MAX_MESSAGE {
                Ok(None)
            } else {
                Err(FramingError::TooLong)
            };
        };
        let end = self.searched + found;
        let message = self.received[..end].to_vec();
        self.received.drain(..end + length);
        self.searched = 0;
        Ok(Some(message))
    }

    fn take_chunked(&mut self) -> Result<Option<Vec<u8>>, FramingError> {
        loop {
            if self.missing > 0 {
                let count = self.missing.min(self.received.len());
                self.message.extend(self.received.drain(..count));
                self.missing -= count;
                if self.missing > 0 {
                    return Ok(None);
                }
            }
            // `\n#SIZE\n` or `\n##\n`.
            let header = &self.received[..self.received.len().min(MAX_SIZE_DIGITS + 3)];
            let Some(size) = header.strip_prefix(b"\n#") else {
                return if b"\n#".starts_with(header) {
                    Ok(None)
                } else {
                    Err(FramingError::ChunkSize)
                };
            };
            if size.starts_with(b"#\n") {
                self.received.drain(..4);
                return Ok(Some(std::mem::take(&mut self.message)));
            }
            let Some(end) = size.iter().position(|byte| *byte == b'\n') else {
                let is_incomplete = size.iter().all(u8::is_ascii_digit) || size == b"#";
                return if is_incomplete && size.len() <= MAX_SIZE_DIGITS {
                    Ok(None)
                } else {
                    Err(FramingError::ChunkSize)
                };
            };
            let size = std::str::from_utf8(&size[..end]).ok();
            let size = size.filter(|size| !size.starts_with(['0', '+']));
            let size: Option<usize> = size.and_then(|size| size.parse().ok());
            let size = size.ok_or(FramingError::ChunkSize)?;
            if self.message.len().saturating_add(size) > MAX_MESSAGE {
                return Err(FramingError::TooLong);
            }
            self.received.drain(..end + 3);
            self.missing = size;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The messages in bytes that arrive in pieces.
    fn decode(framing: Framing, bytes: &[u8], piece: usize) -> Result<Vec<String>, FramingError> {
        let mut decoder = FrameDecoder::new();
        decoder.framing = framing;
        let mut messages = Vec::new();
        for piece in bytes.chunks(piece.max(1)) {
            decoder.receive(piece);
            while let Some(message) = decoder.next_message()? {
                messages.push(message);
            }
        }
        Ok(messages)
    }

    proptest! {
        #[test]
        fn frames_of_messages_are_decoded_in_any_pieces(
            messages in proptest::collection::vec("[^]]{1,40}", 1..4),
            piece in 1..50_usize,
        ) {
            for framing in [Framing::EndOfMessage, Framing::Chunked] {
                let encoded = messages.iter().map(|one| framing.encode(Text::plain(one.as_str())).reveal());
                let bytes: String = encoded.collect();
                prop_assert_eq!(decode(framing, bytes.as_bytes(), piece), Ok(messages.clone()));
            }
        }
    }

    #[test]
    fn frames_follow_the_examples_of_rfc_6242() {
        let chunks = b"\n#4\n<rpc\n#18\n message-id=\"102\"\n\n#4\n</a>\n##\n";
        let expected = vec!["<rpc message-id=\"102\"\n</a>".to_owned()];
        for piece in [1, 7, 100] {
            assert_eq!(
                decode(Framing::Chunked, chunks, piece),
                Ok(expected.clone())
            );
        }
        let marked = b"<a>]]></a>]]>]]><b/>]]>]]>";
        for piece in [1, 3, 100] {
            let expected = vec!["<a>]]></a>".to_owned(), "<b/>".to_owned()];
            assert_eq!(decode(Framing::EndOfMessage, marked, piece), Ok(expected));
        }
    }

    #[test]
    fn frames_that_no_device_may_send_end_the_session() {
        let cases: [(&[u8], FramingError); 8] = [
            (b"<a/>", FramingError::ChunkSize),
            (b"\n#\n", FramingError::ChunkSize),
            (b"\n#0\n", FramingError::ChunkSize),
            (b"\n#x\n", FramingError::ChunkSize),
            (b"\n#+4\n<a/>\n##\n", FramingError::ChunkSize),
            (b"\n#12345678901\n", FramingError::ChunkSize),
            (b"\n#4294967295\n", FramingError::TooLong),
            (b"\n#1\n\xff\n##\n", FramingError::Encoding),
        ];
        for (bytes, error) in cases {
            for piece in [1, 100] {
                assert_eq!(decode(Framing::Chunked, bytes, piece), Err(error.clone()));
            }
        }
    }
}
