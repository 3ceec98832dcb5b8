//! Pushes a branch, also if others push to it: what they have pushed is merged file by file.
//!
//! Of a file that both sides have changed, the newer commit wins. Both stay in the history, and no merge has a conflict.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tokio::process::Command;

use super::{GitDirectory, GitError, REMOTE, finish, line};

/// Attempts to push while others push, too.
const ATTEMPTS: usize = 5;
/// Files in a command: its arguments have a maximum length.
const FILES: usize = 100;
/// What Git says if the branch of the remote has commits that this one does not have.
const REJECTED: &str = "[rejected]";

/// Changed files with their entries in the tree: mode and hash of the content. `None`: removed.
type TreeEntries = BTreeMap<String, Option<(String, String)>>;

impl GitDirectory {
    /// Pushes the current branch to where Git pushes it. What others have pushed there is merged before. `author` is
    /// that of a merge.
    ///
    /// # Cancellation
    /// May be dropped at any time; the command is killed.
    pub(crate) async fn push(&self, author: &str) -> Result<(), GitError> {
        for _ in 1..ATTEMPTS {
            match self.remote("push", &["--quiet"]).await {
                Err(GitError::Failed { output, .. }) if output.contains(REJECTED) => {
                    self.merge_pushed(author).await?;
                }
                ended => return ended,
            }
        }
        self.remote("push", &["--quiet"]).await
    }

    /// Merges the branch of the remote. Files of the work tree with changes that are not committed stay, or end this
    /// with an error.
    async fn merge_pushed(&self, author: &str) -> Result<(), GitError> {
        self.remote("fetch", &["--quiet"]).await?;
        let pushed = self.line_of(&["rev-parse", "--verify", "@{push}"]).await?;
        let own = self.line_of(&["rev-parse", "--verify", "HEAD"]).await?;
        let base = self.line_of(&["merge-base", &own, &pushed]).await?;
        let root = Self {
            path: PathBuf::from(self.line_of(&["rev-parse", "--show-toplevel"]).await?),
        };
        let theirs = root.changed(&base, &pushed).await?;
        let mut files = root.changed(&base, &own).await?;
        let both: Vec<String> = files
            .keys()
            .filter(|file| theirs.contains_key(*file))
            .cloned()
            .collect();
        for file in both {
            if root.time(&pushed, &file).await? > root.time(&own, &file).await? {
                files.remove(&file);
            }
        }
        let tree = root.tree(&pushed, &files).await?;
        let message = "Merge the backups of other nodes";
        let arguments = [
            "commit-tree",
            &tree,
            "-p",
            &own,
            "-p",
            &pushed,
            "-m",
            message,
        ];
        let mut command = root.command();
        root.set_author(&mut command, author).await?;
        command.args(arguments);
        let merged = line(&finish("commit-tree", command, super::LOCAL).await?);
        // It has all files of this side, so that only those of others change.
        root.read(&["merge", "--ff-only", "--quiet", &merged])
            .await?;
        Ok(())
    }

    /// The tree of a commit with these files.
    async fn tree(&self, commit: &str, files: &TreeEntries) -> Result<String, GitError> {
        let scratch = tempfile::tempdir().map_err(GitError::Temporary)?;
        let index = scratch.path().join("index");
        let with_index = async |arguments: &[&str]| {
            let mut command = self.command();
            command.env("GIT_INDEX_FILE", &index).args(arguments);
            finish(arguments[0], command, super::LOCAL).await
        };
        with_index(&["read-tree", commit]).await?;
        let (mut entries, mut removed) = (Vec::new(), Vec::new());
        for (file, entry) in files {
            match entry {
                Some((mode, hash)) => entries.push(format!("{mode},{hash},{file}")),
                None => removed.push(file.as_str()),
            }
        }
        for part in removed.chunks(FILES) {
            let all = [&["update-index", "--force-remove", "--"], part].concat();
            with_index(&all).await?;
        }
        for part in entries.chunks(FILES) {
            let part = part.iter().flat_map(|entry| ["--cacheinfo", entry]);
            let all: Vec<&str> = ["update-index", "--add", "--replace"]
                .into_iter()
                .chain(part)
                .collect();
            with_index(&all).await?;
        }
        Ok(line(&with_index(&["write-tree"]).await?))
    }

    /// The files that differ between two commits, with their entries in the second one.
    async fn changed(&self, from: &str, to: &str) -> Result<TreeEntries, GitError> {
        let arguments = ["diff-tree", "-r", "-z", "--no-renames", from, to];
        let output = self.read(&arguments).await?;
        let mut parts = output.split('\0');
        let mut files = TreeEntries::new();
        // `:100644 100644 HASH HASH M`, and the file.
        while let (Some(entry), Some(file)) = (parts.next(), parts.next()) {
            let fields: Vec<&str> = entry.trim_start_matches(':').split(' ').collect();
            let &[_, mode, _, hash, status] = fields.as_slice() else {
                continue;
            };
            let entry = (status != "D").then(|| (mode.to_owned(), hash.to_owned()));
            files.insert(file.to_owned(), entry);
        }
        Ok(files)
    }

    /// The time of the last commit that changed a file.
    async fn time(&self, commit: &str, file: &str) -> Result<i64, GitError> {
        let time = ["log", "-1", "--format=%ct", commit, "--", file];
        Ok(self.line_of(&time).await?.parse().unwrap_or_default())
    }

    async fn line_of(&self, arguments: &[&str]) -> Result<String, GitError> {
        Ok(line(&self.read(arguments).await?))
    }

    /// A command that talks to a server. It asks nothing.
    async fn remote(&self, name: &str, arguments: &[&str]) -> Result<(), GitError> {
        let mut command: Command = self.command();
        command.arg(name).args(arguments);
        if std::env::var_os("GIT_SSH").is_none() {
            let configured = match std::env::var("GIT_SSH_COMMAND") {
                Ok(own) => own,
                Err(_) => self.setting("core.sshCommand").await?,
            };
            let ssh = if configured.is_empty() {
                "ssh"
            } else {
                &configured
            };
            command.env("GIT_SSH_COMMAND", format!("{ssh} -o BatchMode=yes"));
        }
        finish(name, command, REMOTE).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::git::tests::git;

    /// A work tree of a node whose branch is that of the remote.
    fn node(remote: &Path, directory: &Path) -> GitDirectory {
        let remote = remote.display().to_string();
        let path = directory.display().to_string();
        git(Path::new("/"), &["clone", "--quiet", &remote, &path]);
        GitDirectory::find(directory).unwrap()
    }

    fn write(directory: &Path, files: &[(&str, &str)]) {
        for (file, text) in files {
            fs::write(directory.join(file), text).unwrap();
        }
        git(directory, &["add", "."]);
    }

    fn commit(directory: &Path, time: &str, files: &[(&str, &str)]) {
        write(directory, files);
        let date = format!("GIT_COMMITTER_DATE={time}");
        let status = std::process::Command::new("env")
            .args([
                &date,
                "git",
                "-c",
                "user.name=test",
                "-c",
                "user.email=test@localhost",
            ])
            .args(["commit", "--quiet", "-m", "backup"])
            .current_dir(directory)
            .status()
            .unwrap();
        assert!(status.success());
    }

    #[tokio::test]
    async fn nodes_push_to_one_branch_and_the_newer_file_wins() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        git(
            dir.path(),
            &[
                "init",
                "--quiet",
                "--bare",
                "--initial-branch=main",
                "remote",
            ],
        );
        git(dir.path(), &["clone", "--quiet", "remote", "first"]);
        let first_files = [("README", "x"), ("sw1.cfg", "0"), ("sw9.cfg", "0")];
        commit(&path("first"), "2026-11-24T12:00:00Z", &first_files);
        git(&path("first"), &["push", "--quiet", "origin", "HEAD:main"]);
        let [one, two] = ["one", "two"].map(|name| node(&path("remote"), &path(name)));

        // A device has moved, and both nodes have a commit of it.
        commit(
            &path("one"),
            "2026-11-24T13:00:00Z",
            &[("sw1.cfg", "old"), ("sw2.cfg", "2")],
        );
        fs::remove_file(path("one").join("sw9.cfg")).unwrap();
        commit(
            &path("one"),
            "2026-11-24T13:00:01Z",
            &[("moved.cfg", "newer")],
        );
        commit(
            &path("two"),
            "2026-11-24T12:30:00Z",
            &[("moved.cfg", "older")],
        );
        commit(
            &path("two"),
            "2026-11-24T13:30:00Z",
            &[("sw1.cfg", "new"), ("sw3.cfg", "3")],
        );
        // What is not committed stays.
        fs::write(path("two").join("README"), "mine").unwrap();
        one.push("ops").await.unwrap();
        two.push("ops").await.unwrap();
        let tree = |reference: &str| {
            let names = git(&path("remote"), &["ls-tree", "--name-only", reference]);
            names
                .lines()
                .map(|name| {
                    let file = format!("{reference}:{name}");
                    format!("{name} {}", git(&path("remote"), &["show", &file]))
                })
                .collect::<Vec<_>>()
        };
        let expected = [
            "README x",
            "moved.cfg newer",
            "sw1.cfg new",
            "sw2.cfg 2",
            "sw3.cfg 3",
        ];
        assert_eq!(tree("main"), expected);
        assert_eq!(
            fs::read_to_string(path("two").join("README")).unwrap(),
            "mine"
        );
        assert_eq!(git(&path("two"), &["status", "--porcelain"]), " M README\n");
        assert_eq!(git(&path("two"), &["branch", "--show-current"]), "main\n");
        // Nothing is lost, and the first one follows with its next backup.
        let log = git(
            &path("remote"),
            &["log", "--format=%s", "main", "--", "sw1.cfg", "moved.cfg"],
        );
        assert!(log.lines().count() >= 4, "{log}");
        commit(&path("one"), "2026-11-24T14:00:00Z", &[("sw2.cfg", "next")]);
        one.push("ops").await.unwrap();
        assert_eq!(git(&path("remote"), &["show", "main:sw2.cfg"]), "next");
        assert_eq!(git(&path("remote"), &["show", "main:sw3.cfg"]), "3");
    }
}
