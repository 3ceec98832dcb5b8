//! Reads the files that people and other programs write: inventories, desired state, configurations, keys.
//!
//! A link to `/dev/zero` has no end and a FIFO may have no writer, so only regular files are read, up to a
//! size that is checked first. What the process already has open (`/dev/stdin`, `/dev/fd/63` of a shell)
//! and the empty `/dev/null` are read as well: the caller chose them by that name.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

/// The largest size of most files in bytes.
pub const LARGEST: u64 = 64 << 20;

/// Opens a regular file of at most `largest` bytes.
///
/// # Errors
/// It is not a regular file, is larger, or cannot be opened.
pub fn open(path: &Path, largest: u64) -> io::Result<File> {
    if is_open_already(path) {
        return File::open(path);
    }
    // Before it is opened: that alone can have an effect on a device.
    check(&fs::metadata(path)?, largest)?;
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = i32::try_from(flags.bits()).expect("flags of open");
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    check(&file.metadata()?, largest)?;
    Ok(file)
}

/// Reads a regular file of at most `largest` bytes.
///
/// # Errors
/// As [`open`].
pub fn read(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    read_open(open(path, largest)?, largest)
}

/// Reads a regular file of at most `largest` bytes as UTF-8.
///
/// # Errors
/// As [`open`], or it is not UTF-8.
pub fn read_text(path: &Path, largest: u64) -> io::Result<String> {
    read_open_text(open(path, largest)?, largest)
}

/// Reads a file of [`open`] as UTF-8.
///
/// # Errors
/// As [`read_open`], or it is not UTF-8.
pub fn read_open_text(file: File, largest: u64) -> io::Result<String> {
    let text = String::from_utf8(read_open(file, largest)?);
    text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the file is not UTF-8"))
}

/// Reads a file of [`open`], which can have grown since.
///
/// # Errors
/// It is larger than `largest`, or cannot be read.
pub fn read_open(file: File, largest: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(largest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > largest {
        Err(too_large(largest))
    } else {
        Ok(bytes)
    }
}

/// Names of what the process has open, and of the empty device.
fn is_open_already(path: &Path) -> bool {
    let names = ["/dev/stdin", "/dev/null"].map(Path::new);
    let directories = ["/dev/fd", "/proc/self/fd"].map(Path::new);
    names.contains(&path)
        || path
            .parent()
            .is_some_and(|path| directories.contains(&path))
}

fn check(metadata: &Metadata, largest: u64) -> io::Result<()> {
    let kind = metadata.file_type();
    let special = [
        (kind.is_fifo(), "a FIFO"),
        (kind.is_socket(), "a socket"),
        (kind.is_char_device() || kind.is_block_device(), "a device"),
    ];
    if kind.is_dir() {
        return Err(rustix::io::Errno::ISDIR.into());
    }
    if let Some((_, name)) = special.iter().find(|(is_kind, _)| *is_kind) {
        return Err(io::Error::other(format!(
            "it is {name}, not a regular file"
        )));
    }
    if metadata.len() > largest {
        Err(too_large(largest))
    } else {
        Ok(())
    }
}

fn too_large(largest: u64) -> io::Error {
    let size = match largest >> 20 {
        0 => format!("{} KiB", largest >> 10),
        size => format!("{size} MiB"),
    };
    let text = format!("the file is larger than {size}");
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn special_and_large_files_are_refused_before_they_are_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        fs::write(at("small"), "text\n").expect("written");
        let large = File::create(at("large")).expect("created");
        large.set_len(LARGEST + 1).expect("a file with a hole");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mkfifoat(rustix::fs::CWD, at("fifo"), mode).expect("a FIFO");
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("a socket");
        for (name, target) in [
            ("to-small", "small"),
            ("to-fifo", "fifo"),
            ("to-zero", "/dev/zero"),
            ("to-null", "/dev/null"),
        ] {
            symlink(target, at(name)).expect("a link");
        }
        let cases = [
            ("small", Ok("text\n")),
            ("to-small", Ok("text\n")),
            ("large", Err("the file is larger than 64 MiB")),
            ("fifo", Err("it is a FIFO, not a regular file")),
            ("to-fifo", Err("it is a FIFO, not a regular file")),
            ("socket", Err("it is a socket, not a regular file")),
            ("to-zero", Err("it is a device, not a regular file")),
            ("to-null", Err("it is a device, not a regular file")),
            ("/dev/zero", Err("it is a device, not a regular file")),
            ("/dev/null", Ok("")),
            (".", Err("Is a directory (os error 21)")),
            ("none", Err("No such file or directory (os error 2)")),
        ];
        for (name, expected) in cases {
            let read = read_text(&at(name), LARGEST).map_err(|error| error.to_string());
            let read = read.as_ref().map(String::as_str).map_err(String::as_str);
            assert_eq!(read, expected, "{name}");
        }
        let error = read(&at("small"), 4).expect_err("larger");
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }
}
