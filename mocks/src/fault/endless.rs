//! Output that does not end.

use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt};

/// Pause between two bytes or lines.
const PAUSE: Duration = Duration::from_millis(50);
/// Pause between two pieces of a flood.
const FLOOD_PAUSE: Duration = Duration::from_millis(2);
/// Size of a piece of a flood, in bytes.
const FLOOD_PIECE: usize = 16 * 1024;

/// Output that does not end. None of it resembles a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EndlessOutput {
    /// A byte after each pause, without line ends.
    Bytes,
    /// A line after each pause.
    Lines,
    /// Many bytes without line ends.
    Flood,
}

impl EndlessOutput {
    /// The next piece of the output.
    pub(crate) fn piece(self) -> Vec<u8> {
        match self {
            EndlessOutput::Bytes => b".".to_vec(),
            EndlessOutput::Lines => b"*Jan  2 03:04:05.678: IP: s=192.0.2.1, len 40\r\n".to_vec(),
            EndlessOutput::Flood => vec![b'.'; FLOOD_PIECE],
        }
    }

    /// The pause before a piece.
    pub(crate) fn pause(self) -> Duration {
        match self {
            EndlessOutput::Bytes | EndlessOutput::Lines => PAUSE,
            EndlessOutput::Flood => FLOOD_PAUSE,
        }
    }
}

/// Writes until the peer closes the connection.
pub(crate) async fn write_endlessly<W: AsyncWrite + Unpin>(mut writer: W, output: EndlessOutput) {
    let piece = output.piece();
    loop {
        tokio::time::sleep(output.pause()).await;
        if writer.write_all(&piece).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
}
