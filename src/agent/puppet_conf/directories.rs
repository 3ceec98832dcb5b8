//! The directories of Puppet, which depend on the user and the package.

use std::path::{Path, PathBuf};

/// The directories of Puppet.
#[derive(Clone, Debug)]
pub struct PuppetDirectories {
    /// Default of the `confdir` setting, such as `/etc/puppetlabs/puppet`.
    pub confdir: PathBuf,
    /// Default of the `vardir` setting, such as `/opt/puppetlabs/puppet/cache`.
    pub vardir: PathBuf,
}

impl PuppetDirectories {
    /// Finds the directories. `exists` checks for a directory, because Debian's packages use
    /// another one.
    pub(crate) fn find(root: bool, home: Option<&Path>, exists: impl Fn(&Path) -> bool) -> Self {
        let (conf, debian) = (
            Path::new("/etc/puppetlabs/puppet"),
            Path::new("/etc/puppet"),
        );
        match home {
            Some(home) if !root => Self {
                confdir: home.join(".puppetlabs/etc/puppet"),
                vardir: home.join(".puppetlabs/opt/puppet/cache"),
            },
            _ if !exists(conf) && exists(debian) => Self {
                confdir: debian.to_owned(),
                vardir: PathBuf::from("/var/cache/puppet"),
            },
            _ => Self {
                confdir: conf.to_owned(),
                vardir: PathBuf::from("/opt/puppetlabs/puppet/cache"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn puppet_directories_depend_on_user_and_package() {
        let only = |name: &'static str| move |path: &Path| path == Path::new(name);
        let user = PuppetDirectories::find(false, Some(Path::new("/home/u")), |_| true);
        assert_eq!(user.confdir, Path::new("/home/u/.puppetlabs/etc/puppet"));
        let root = PuppetDirectories::find(
            true,
            Some(Path::new("/root")),
            only("/etc/puppetlabs/puppet"),
        );
        assert_eq!(root.vardir, Path::new("/opt/puppetlabs/puppet/cache"));
        let debian = PuppetDirectories::find(true, None, only("/etc/puppet"));
        assert_eq!(debian.confdir, Path::new("/etc/puppet"));
    }
}
