//! The environment of a run, and its restarts in another environment.
//!
//! A state machine without I/O (`docs/reference/agent-protocol.md`, section 6). The run passes in the response
//! to the node request and the environment of each catalog. Nothing is stored between runs, so that
//! the environment of one device cannot affect another.

use crate::agent::puppet_conf::EnvironmentSettings;
use crate::agent::run_log::RunLog;

/// The environment of one run.
#[derive(Clone, Debug)]
pub(crate) struct AgentEnvironment {
    settings: EnvironmentSettings,
    current: String,
    restarts: usize,
}

/// The next step after a catalog arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CatalogDecision {
    Use,
    /// Restart the run in the current environment, which has changed.
    Restart,
}

/// The environments of agent and server do not agree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvironmentError {
    #[error(
        "Not using catalog because its environment '{catalog}' does not match agent specified environment '{current}' and strict_environment_mode is set"
    )]
    Strict { catalog: String, current: String },
    #[error("Catalog environment didn't stabilize after {0} fetches, aborting run")]
    Unstable(usize),
    #[error("Environment '{0}' not found on server, aborting run.")]
    NotFound(String),
}

impl AgentEnvironment {
    pub(crate) fn new(settings: &EnvironmentSettings) -> Self {
        Self {
            current: settings.name.clone(),
            settings: settings.clone(),
            restarts: 0,
        }
    }

    pub(crate) fn current(&self) -> &str {
        &self.current
    }

    /// The value of `configured_environment` in requests.
    pub(crate) fn configured(&self) -> &str {
        self.settings.configured.as_deref().unwrap_or(&self.current)
    }

    /// Whether the run requests the node.
    pub(crate) fn has_node_request(&self) -> bool {
        !self.settings.fixed && !self.settings.strict
    }

    /// Adopts the environment from the node response. An error is logged and the run continues.
    pub(crate) fn node<E: std::fmt::Display>(
        &mut self,
        response: Result<Option<String>, E>,
        log: &mut dyn RunLog,
    ) {
        match response {
            Ok(Some(named)) if named != self.current => {
                log.notice(format!(
                    "Local environment: '{}' doesn't match server specified node environment '{named}', switching agent to '{named}'.",
                    self.current
                ));
                self.current = named;
            }
            Ok(_) => {}
            Err(error) => {
                log.warning("Unable to fetch my node definition, but the agent run will continue:");
                log.warning(error.to_string());
            }
        }
    }

    /// Logs the environment.
    pub(crate) fn begin(&self, log: &mut dyn RunLog) {
        log.info(format!("Using environment '{}'", self.current));
    }

    /// Handles the response to the plugin list; `exists`: the server has the environment.
    pub(crate) fn listed(
        &self,
        exists: bool,
        log: &mut dyn RunLog,
    ) -> Result<(), EnvironmentError> {
        if exists {
            return Ok(());
        }
        if self.settings.strict {
            return Err(EnvironmentError::NotFound(self.current.clone()));
        }
        log.notice(format!(
            "Environment '{}' not found on server, skipping initial pluginsync.",
            self.current
        ));
        Ok(())
    }

    /// Decides about a catalog of this environment. Call it before the catalog is applied.
    pub(crate) fn catalog(
        &mut self,
        environment: &str,
        log: &mut dyn RunLog,
    ) -> Result<CatalogDecision, EnvironmentError> {
        if environment == self.current {
            return Ok(CatalogDecision::Use);
        }
        if self.settings.strict {
            return Err(EnvironmentError::Strict {
                catalog: environment.to_owned(),
                current: self.current.clone(),
            });
        }
        if self.restarts >= self.settings.max_restarts {
            return Err(EnvironmentError::Unstable(self.restarts + 1));
        }
        log.notice(format!(
            "Local environment: '{}' doesn't match server specified environment '{environment}', restarting agent run with environment '{environment}'",
            self.current
        ));
        self.restarts += 1;
        self.current = environment.to_owned();
        Ok(CatalogDecision::Restart)
    }

    /// Adopts the environment of a cached catalog.
    pub(crate) fn adopt(&mut self, environment: &str) {
        self.current = environment.to_owned();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::run_log::Level;

    fn settings() -> EnvironmentSettings {
        EnvironmentSettings {
            name: "production".to_owned(),
            configured: None,
            fixed: false,
            strict: false,
            max_restarts: 3,
        }
    }

    fn node(answer: Result<Option<&str>, &str>) -> (AgentEnvironment, Vec<(Level, String)>) {
        let mut log = Vec::new();
        let mut run = AgentEnvironment::new(&settings());
        run.node(answer.map(|name| name.map(str::to_owned)), &mut log);
        (run, log)
    }

    #[test]
    fn environment_of_the_server_takes_precedence() {
        let (run, log) = node(Ok(Some("staging")));
        assert_eq!((run.current(), run.configured()), ("staging", "staging"));
        assert_eq!(
            log[0].1,
            "Local environment: 'production' doesn't match server specified node environment 'staging', switching agent to 'staging'."
        );
        assert_eq!(log[0].0, Level::Notice);
        assert_eq!(node(Ok(None)).0.current(), "production");
    }

    #[test]
    fn node_request_failure_logs_two_warnings() {
        let (run, log) = node(Err("500"));
        assert_eq!(run.current(), "production");
        let messages: Vec<_> = log
            .iter()
            .map(|(level, message)| (*level, message.as_str()))
            .collect();
        assert_eq!(
            messages,
            [
                (
                    Level::Warning,
                    "Unable to fetch my node definition, but the agent run will continue:"
                ),
                (Level::Warning, "500"),
            ]
        );
    }

    #[test]
    fn node_request_is_skipped_without_an_effect() {
        let asks = |fixed, strict| {
            AgentEnvironment::new(&EnvironmentSettings {
                fixed,
                strict,
                ..settings()
            })
            .has_node_request()
        };
        assert!(asks(false, false));
        assert!(!asks(true, false) && !asks(false, true));
    }

    #[test]
    fn environment_of_a_catalog_restarts_the_run_three_times() {
        let mut log = Vec::new();
        let mut run = AgentEnvironment::new(&settings());
        for turn in ["staging", "production", "staging"] {
            assert_eq!(run.catalog(turn, &mut log), Ok(CatalogDecision::Restart));
        }
        let error = run.catalog("production", &mut log).unwrap_err();
        assert_eq!(
            error.to_string(),
            "Catalog environment didn't stabilize after 4 fetches, aborting run"
        );
        assert_eq!(log.len(), 3);
        assert_eq!(
            log[0].1,
            "Local environment: 'production' doesn't match server specified environment 'staging', restarting agent run with environment 'staging'"
        );
    }

    #[test]
    fn environment_restarts_have_a_configured_limit() {
        let mut run = AgentEnvironment::new(&EnvironmentSettings {
            max_restarts: 0,
            ..settings()
        });
        let error = run.catalog("staging", &mut Vec::new()).unwrap_err();
        assert_eq!(error, EnvironmentError::Unstable(1));
    }

    #[test]
    fn environment_change_is_refused_in_strict_mode() {
        let mut run = AgentEnvironment::new(&EnvironmentSettings {
            strict: true,
            ..settings()
        });
        let error = run.catalog("staging", &mut Vec::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "Not using catalog because its environment 'staging' does not match agent specified environment 'production' and strict_environment_mode is set"
        );
        let error = run.listed(false, &mut Vec::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "Environment 'production' not found on server, aborting run."
        );
        assert_eq!(
            run.catalog("production", &mut Vec::new()),
            Ok(CatalogDecision::Use)
        );
    }
}
