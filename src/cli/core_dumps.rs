//! Disables core dumps: the memory of the process contains passwords.

use rustix::process::{DumpableBehavior, Resource, getrlimit, set_dumpable_behavior, setrlimit};

/// Disables core dumps of this process. Programs that it starts can raise the limit again.
///
/// # Errors
/// The system refused it.
pub(crate) fn disable() -> rustix::io::Result<()> {
    // A core pattern with a pipe ignores the limit, but not this.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    let mut limit = getrlimit(Resource::Core);
    limit.current = Some(0);
    setrlimit(Resource::Core, limit)
}
