//! The name of the user who runs the program, for stored runs and plans.

/// The user, also below `sudo`. A user without a name is a number.
pub(super) fn user_name() -> String {
    let variable = |name| std::env::var(name).ok().filter(|name| !name.is_empty());
    let names = ["SUDO_USER", "USER", "LOGNAME"];
    let name = names.into_iter().find_map(variable);
    name.unwrap_or_else(|| format!("uid {}", rustix::process::getuid().as_raw()))
}
