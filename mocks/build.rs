//! Makes the table of grammars from the files in `grammars/`, so that adding a platform is adding
//! files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?);
    let grammars = root.join("grammars");
    let mut files = Vec::new();
    collect(&grammars, &mut files)?;
    files.sort();
    let mut table = String::from("&[\n");
    for file in files {
        let name = file
            .strip_prefix(&grammars)
            .map_err(io::Error::other)?
            .to_string_lossy()
            .replace('\\', "/");
        let _ = writeln!(table, "    ({name:?}, include_str!({:?})),", file);
    }
    table.push(']');
    let out = PathBuf::from(env::var("OUT_DIR").map_err(io::Error::other)?);
    fs::write(out.join("grammars.rs"), table)
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", directory.display());
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
