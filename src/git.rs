//! Directories of users in Git work trees, by the program `git`: what is committed, and commits of some files.
//!
//! Nothing asks a question, and each command has a limit. Hooks and settings of Git apply as for its user.

mod push;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use switchtender_devices::secret_url;
use tokio::process::Command;

use crate::bounded_command::{self, BoundedCommandError, CommandLimits};

/// Limits of a command that works with local files.
const LOCAL: CommandLimits = CommandLimits {
    time: Duration::from_secs(60),
    output: 64 << 20,
};
/// Limits of a command that talks to a server.
const REMOTE: CommandLimits = CommandLimits {
    time: Duration::from_secs(180),
    output: 1 << 20,
};
/// Lines of the error output in a message, and their maximum length in characters.
const QUOTED_LINES: usize = 4;
const QUOTED: usize = 400;

/// Why Git did not do something.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GitError {
    #[error("cannot run `git`")]
    Start(#[source] io::Error),
    #[error("`git {name}` did not end within {seconds} s")]
    Late { name: String, seconds: u64 },
    #[error("the output of `git {name}` is longer than {kibibytes} KiB")]
    LongOutput { name: String, kibibytes: usize },
    #[error("`git {name}` failed: {output}")]
    Failed { name: String, output: String },
    #[error("cannot write a temporary file")]
    Temporary(#[source] io::Error),
    #[error("the branch {0} exists already")]
    BranchExists(String),
}

/// The commit of a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct GitRevision {
    /// The hash of the commit.
    pub(crate) commit: String,
    /// The directory had changes that the commit does not have.
    pub(crate) is_modified: bool,
}

impl std::fmt::Display for GitRevision {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let short = self.commit.get(..12).unwrap_or(&self.commit);
        let modified = if self.is_modified { ", modified" } else { "" };
        write!(formatter, "{short}{modified}")
    }
}

/// A directory in a work tree.
#[derive(Clone, Debug)]
pub(crate) struct GitDirectory {
    path: PathBuf,
}

impl GitDirectory {
    /// The directory, if it is in a work tree.
    pub(crate) fn find(path: &Path) -> Option<Self> {
        let path = std::fs::canonicalize(path).ok()?;
        let is_work_tree = path.ancestors().any(|one| one.join(".git").exists());
        is_work_tree.then_some(Self { path })
    }

    /// Its commit, and whether it is modified. `None`: it has none, or Git ignores it.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(crate) async fn revision(&self) -> Result<Option<GitRevision>, GitError> {
        let arguments = ["status", "--porcelain=v2", "--branch", "-z"];
        let arguments = [&arguments[..], &["--ignored=matching", "--", "."]].concat();
        let output = self.read(&arguments).await?;
        let (mut commit, mut is_modified) = (None, false);
        let mut ignored = Vec::new();
        for entry in output.split('\0') {
            if let Some(found) = entry.strip_prefix("# branch.oid ") {
                commit = Some(found.to_owned()).filter(|found| found != "(initial)");
            } else if let Some(path) = entry.strip_prefix("! ") {
                ignored.push(path.trim_end_matches('/'));
            } else if !entry.is_empty() && !entry.starts_with('#') {
                is_modified = true;
            }
        }
        if !ignored.is_empty() {
            let own = line(&self.read(&["rev-parse", "--show-prefix"]).await?);
            if ignored.iter().any(|path| Path::new(&own).starts_with(path)) {
                return Ok(None);
            }
        }
        Ok(commit.map(|commit| GitRevision {
            commit,
            is_modified,
        }))
    }

    /// Those of these files that have changes without a commit.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(crate) async fn uncommitted(&self, files: &[PathBuf]) -> Result<Vec<String>, GitError> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let mut command = self.command();
        command
            .args(["status", "--porcelain", "-z", "--untracked-files=all", "--"])
            .args(files);
        let output = finish("status", command, LOCAL).await?;
        let entries = output.split('\0').filter_map(|entry| entry.get(3..));
        let entries = entries.filter(|path| !path.is_empty());
        Ok(entries.map(str::to_owned).collect())
    }

    /// Commits these files, which are in the directory, and nothing else: other changes stay as they are, also
    /// those that are staged. Returns those of the files that differ from the commit before; without one, there
    /// is no commit. `message` gets them.
    ///
    /// # Cancellation
    /// May be dropped at any time; the command is killed.
    pub(crate) async fn commit(
        &self,
        files: &BTreeSet<String>,
        author: &str,
        message: impl FnOnce(&[String]) -> String,
    ) -> Result<Vec<String>, GitError> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        // The arguments of a command have a maximum length.
        let list: String = files.iter().map(|file| format!("{file}\0")).collect();
        let list = temporary_file(&list)?;
        let list_option = format!("--pathspec-from-file={}", list.path().display());
        let paths = [list_option.as_str(), "--pathspec-file-nul"];
        self.read(&[&["add"], &paths[..]].concat()).await?;
        let staged = ["diff", "--cached", "--name-only", "--relative", "-z"];
        let staged = self.read(&staged).await?;
        let staged = staged.split('\0').filter(|file| files.contains(*file));
        let staged: Vec<String> = staged.map(str::to_owned).collect();
        if staged.is_empty() {
            return Ok(staged);
        }
        let mut command = self.command();
        self.set_author(&mut command, author).await?;
        command.args(["commit", "--quiet", "--only", "-m", &message(&staged)]);
        command.args(paths);
        finish("commit", command, LOCAL).await?;
        Ok(staged)
    }

    /// Commits these texts of files of the directory on a new branch that begins at the current commit. The work
    /// tree and what is staged stay as they are. Returns the hash of the commit.
    ///
    /// # Cancellation
    /// May be dropped at any time; the branch is then not there.
    pub(crate) async fn commit_on_branch(
        &self,
        branch: &str,
        files: &BTreeMap<String, String>,
        author: &str,
        message: &str,
    ) -> Result<String, GitError> {
        let reference = format!("refs/heads/{branch}");
        self.read(&["check-ref-format", &reference]).await?;
        let existing = self
            .read(&["for-each-ref", "--count=1", &reference])
            .await?;
        if !existing.is_empty() {
            return Err(GitError::BranchExists(branch.to_owned()));
        }
        let scratch = tempfile::tempdir().map_err(GitError::Temporary)?;
        let index = scratch.path().join("index");
        let with_index = async |arguments: &[&str]| {
            let mut command = self.command();
            command.env("GIT_INDEX_FILE", &index).args(arguments);
            line_of(arguments, command).await
        };
        let base = line(&self.read(&["rev-parse", "--verify", "HEAD"]).await?);
        let prefix = line(&self.read(&["rev-parse", "--show-prefix"]).await?);
        with_index(&["read-tree", &base]).await?;
        for (name, text) in files {
            let file = temporary_file(text)?;
            let file = file.path().display().to_string();
            let blob = line(&self.read(&["hash-object", "-w", &file]).await?);
            let entry = format!("100644,{blob},{prefix}{name}");
            with_index(&["update-index", "--add", "--cacheinfo", &entry]).await?;
        }
        let tree = with_index(&["write-tree"]).await?;
        let mut command = self.command();
        self.set_author(&mut command, author).await?;
        let arguments = ["commit-tree", &tree, "-p", &base, "-m", message];
        command.args(arguments);
        let commit = line_of(&arguments, command).await?;
        // Fails if another process has created the branch meanwhile.
        self.read(&["update-ref", &reference, &commit, ""]).await?;
        Ok(commit)
    }

    /// Names the author if the settings of Git do not.
    async fn set_author(&self, command: &mut Command, author: &str) -> Result<(), GitError> {
        let is_set = |name| std::env::var_os(name).is_some();
        if self.setting("user.name").await?.is_empty() && !is_set("GIT_AUTHOR_NAME") {
            command.env("GIT_AUTHOR_NAME", author);
            command.env("GIT_COMMITTER_NAME", author);
        }
        if self.setting("user.email").await?.is_empty() && !is_set("GIT_AUTHOR_EMAIL") {
            let name: String = author
                .chars()
                .map(|c| if c.is_alphanumeric() { c } else { '-' })
                .collect();
            let email = format!("{name}@localhost");
            command.env("GIT_AUTHOR_EMAIL", &email);
            command.env("GIT_COMMITTER_EMAIL", &email);
        }
        Ok(())
    }

    /// A setting of Git; empty if it is not set.
    async fn setting(&self, name: &str) -> Result<String, GitError> {
        let found = self
            .read(&["config", "--default", "", "--get", name])
            .await?;
        Ok(line(&found))
    }

    /// The output of a command with local files.
    async fn read(&self, arguments: &[&str]) -> Result<String, GitError> {
        let mut command = self.command();
        command.args(arguments);
        let name = arguments.first().copied().unwrap_or_default();
        finish(name, command, LOCAL).await
    }

    fn command(&self) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.path);
        // A hook that starts this program has set them for another directory.
        for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"] {
            command.env_remove(name);
        }
        command
            .env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ASKPASS", "true")
            .env("SSH_ASKPASS_REQUIRE", "never")
            .env("GIT_EDITOR", "true")
            // Reads change nothing.
            .env("GIT_OPTIONAL_LOCKS", "0")
            // A name with `*` is no pattern.
            .env("GIT_LITERAL_PATHSPECS", "1");
        command
    }
}

fn temporary_file(text: &str) -> Result<tempfile::NamedTempFile, GitError> {
    let file = tempfile::NamedTempFile::new();
    let mut file = file.map_err(GitError::Temporary)?;
    file.write_all(text.as_bytes())
        .map_err(GitError::Temporary)?;
    Ok(file)
}

/// The only line of an output.
fn line(text: &str) -> String {
    text.trim_end_matches('\n').to_owned()
}

async fn line_of(arguments: &[&str], command: Command) -> Result<String, GitError> {
    let name = arguments.first().copied().unwrap_or_default();
    Ok(line(&finish(name, command, LOCAL).await?))
}

/// The output of a command that succeeds.
async fn finish(
    name: &str,
    mut command: Command,
    limits: CommandLimits,
) -> Result<String, GitError> {
    let name = name.to_owned();
    let output = match bounded_command::run(&mut command, limits).await {
        Ok(output) => output,
        Err(BoundedCommandError::Start(error)) => return Err(GitError::Start(error)),
        Err(BoundedCommandError::Late(limit)) => {
            let seconds = limit.as_secs();
            return Err(GitError::Late { name, seconds });
        }
        Err(BoundedCommandError::LongOutput(limit)) => {
            let kibibytes = limit >> 10;
            return Err(GitError::LongOutput { name, kibibytes });
        }
    };
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(GitError::Failed {
        name,
        output: quoted(&output),
    })
}

/// The first lines of an error output, without logins in URLs.
fn quoted(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let text = if text.trim().is_empty() {
        String::from_utf8_lossy(&output.stdout)
    } else {
        text
    };
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("hint:"));
    let lines: Vec<&str> = lines.take(QUOTED_LINES).collect();
    let words = lines.join("; ");
    let words = words.split(' ').map(|word| match word.find("://") {
        Some(_) => secret_url::redact(word),
        None => word.to_owned(),
    });
    let text: String = words.collect::<Vec<_>>().join(" ");
    let text: String = text.chars().take(QUOTED).collect();
    if text.is_empty() {
        output.status.to_string()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A repository with one commit of `state/a.yaml`, whose author is known only by the environment of the commit.
    fn repository() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        git(dir.path(), &["init", "--quiet", "--initial-branch=main"]);
        fs::create_dir(dir.path().join("state")).unwrap();
        fs::write(dir.path().join("state/a.yaml"), "a: 1\n").unwrap();
        git(dir.path(), &["add", "."]);
        git(dir.path(), &["commit", "--quiet", "-m", "first"]);
        dir
    }

    pub(super) fn git(dir: &Path, arguments: &[&str]) -> String {
        let mut command = std::process::Command::new("git");
        command.current_dir(dir).args(arguments);
        for name in ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"] {
            command.env(name, "test");
        }
        for name in ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"] {
            command.env(name, "test@localhost");
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn state(dir: &tempfile::TempDir) -> GitDirectory {
        GitDirectory::find(&dir.path().join("state")).unwrap()
    }

    #[tokio::test]
    async fn revision_is_of_the_directory_alone() {
        let dir = repository();
        let head = git(dir.path(), &["rev-parse", "HEAD"]);
        fs::write(dir.path().join("other"), "x").unwrap();
        let clean = GitRevision {
            commit: head.trim().to_owned(),
            is_modified: false,
        };
        assert_eq!(state(&dir).revision().await.unwrap(), Some(clean.clone()));
        fs::write(dir.path().join("state/b.yaml"), "b: 1\n").unwrap();
        let modified = GitRevision {
            is_modified: true,
            ..clean
        };
        assert_eq!(state(&dir).revision().await.unwrap(), Some(modified));
        // A directory that Git ignores has no commit.
        fs::write(dir.path().join(".gitignore"), "/made/\n").unwrap();
        fs::create_dir(dir.path().join("made")).unwrap();
        fs::write(dir.path().join("made/a.yaml"), "a: 1\n").unwrap();
        let made = GitDirectory::find(&dir.path().join("made")).unwrap();
        assert_eq!(made.revision().await.unwrap(), None);
        let elsewhere = tempfile::tempdir().unwrap();
        assert!(GitDirectory::find(elsewhere.path()).is_none());
    }

    #[tokio::test]
    async fn commit_has_the_named_files_and_nothing_else() {
        let dir = repository();
        let path = |name: &str| dir.path().join("state").join(name);
        for (name, text) in [
            ("a.yaml", "a: 2\n"),
            ("new [1].cfg", "x\n"),
            ("staged", "x\n"),
        ] {
            fs::write(path(name), text).unwrap();
        }
        git(dir.path(), &["add", "state/staged"]);
        let files = BTreeSet::from(["new [1].cfg".to_owned()]);
        let commit = async || {
            let message = |changed: &[String]| format!("files: {}", changed.join(", "));
            state(&dir)
                .commit(&files, "ops user", message)
                .await
                .unwrap()
        };
        assert_eq!(commit().await, ["new [1].cfg"]);
        let printed = git(dir.path(), &["show", "--format=%s", "--name-only", "HEAD"]);
        assert_eq!(printed, "files: new [1].cfg\n\nstate/new [1].cfg\n");
        let status = git(dir.path(), &["status", "--porcelain"]);
        assert_eq!(status, " M state/a.yaml\nA  state/staged\n");
        // Without a change, there is no commit.
        assert!(commit().await.is_empty());
    }

    #[tokio::test]
    async fn commit_on_a_branch_changes_no_file() {
        let dir = repository();
        fs::write(dir.path().join("state/a.yaml"), "a: 2\n").unwrap();
        git(dir.path(), &["add", "."]);
        let files = [("a.yaml", "a: 3\n"), ("device/b.yaml", "b: 1\n")];
        let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let files = BTreeMap::from(files);
        let commit = async || {
            let directory = state(&dir);
            directory
                .commit_on_branch("drift/sw1", &files, "ops", "accept")
                .await
        };
        let made = commit().await.unwrap();
        assert_eq!(git(dir.path(), &["rev-parse", "drift/sw1"]).trim(), made);
        let printed = ["show", "--format=%s %P", "--name-only", "drift/sw1"];
        let base = git(dir.path(), &["rev-parse", "main"]);
        assert_eq!(
            git(dir.path(), &printed),
            format!("accept {base}\nstate/a.yaml\nstate/device/b.yaml\n")
        );
        assert_eq!(
            git(dir.path(), &["show", "drift/sw1:state/a.yaml"]),
            "a: 3\n"
        );
        assert_eq!(git(dir.path(), &["branch", "--show-current"]), "main\n");
        assert_eq!(
            git(dir.path(), &["status", "--porcelain"]),
            "M  state/a.yaml\n"
        );
        assert_eq!(
            fs::read(dir.path().join("state/a.yaml")).unwrap(),
            b"a: 2\n"
        );
        assert!(!dir.path().join("state/device").exists());
        let again = commit().await.unwrap_err();
        assert_eq!(again.to_string(), "the branch drift/sw1 exists already");
    }

    #[tokio::test]
    async fn push_without_a_remote_fails_with_the_words_of_git() {
        let dir = repository();
        let error = state(&dir).push("ops").await.unwrap_err().to_string();
        assert!(error.contains("No configured push destination"), "{error}");
        let remote = "https://ops:s3cret@127.0.0.1:1/x.git";
        git(dir.path(), &["remote", "add", "origin", remote]);
        git(dir.path(), &["config", "push.autoSetupRemote", "true"]);
        let error = state(&dir).push("ops").await.unwrap_err().to_string();
        assert!(!error.contains("s3cret"), "{error}");
    }
}
