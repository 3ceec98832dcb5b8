//! How the lines of a command line travel.

/// How the lines of a command line travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineTransport {
    /// In a terminal over SSH.
    #[default]
    Ssh,
    /// In HTTP requests, as `[http]` of the platform describes.
    Http,
}
