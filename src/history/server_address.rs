//! The address of a PostgreSQL server: `postgresql://USER@HOST/DATABASE`.
//!
//! It is shown, so it has no password: that is in a file. A connection over a network is encrypted, and the
//! certificate of the server is verified.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls_platform_verifier::BuilderVerifierExt as _;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::HistoryError;
use super::password_file::PasswordFile;

/// The address of a server, with its database and user.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct ServerAddress {
    text: String,
    config: Config,
    /// Certificates of authorities. `None`: those of the system.
    authorities: Option<PathBuf>,
    password_file: Option<PathBuf>,
}

/// Why a text is no address of a server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServerAddressError {
    #[error("it has a password: write `?passfile=FILE`, with a file as that of psql")]
    Password,
    #[error(
        "`sslmode={0}` does not verify the server: remove it, the connection is encrypted and verified"
    )]
    Unverified(String),
    #[error("it has no {0}: write `postgresql://USER@HOST/DATABASE`")]
    Missing(&'static str),
    #[error(transparent)]
    Invalid(tokio_postgres::Error),
}

impl ServerAddress {
    /// Whether a text is meant as an address, not as the path of a file.
    pub(crate) fn is_meant(text: &str) -> bool {
        ["postgresql:", "postgres:"]
            .iter()
            .any(|scheme| text.starts_with(scheme))
    }

    /// # Errors
    /// The text is no address, has a password, or asks for a connection that is not verified.
    pub(crate) fn parse(text: &str) -> Result<Self, ServerAddressError> {
        let (base, query) = text.split_once('?').unwrap_or((text, ""));
        let (mut authorities, mut password_file) = (None, None);
        let mut rest = form_urlencoded::Serializer::new(String::new());
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match (&*name, &*value) {
                ("sslrootcert", "system") | ("sslmode", "verify-full") => {}
                ("sslrootcert", file) => authorities = Some(PathBuf::from(file)),
                ("passfile", file) => password_file = Some(PathBuf::from(file)),
                ("password", _) => return Err(ServerAddressError::Password),
                ("sslmode", mode) => return Err(ServerAddressError::Unverified(mode.to_owned())),
                _ => drop(rest.append_pair(&name, &value)),
            }
        }
        let query = rest.finish();
        let config: Config = format!("{base}?{query}")
            .parse()
            .map_err(ServerAddressError::Invalid)?;
        let missing = [
            ("host", config.get_hosts().is_empty()),
            ("database", config.get_dbname().is_none()),
        ];
        if let Some((part, _)) = missing.iter().find(|(_, is_missing)| *is_missing) {
            return Err(ServerAddressError::Missing(part));
        }
        if config.get_password().is_some() {
            return Err(ServerAddressError::Password);
        }
        Ok(Self {
            text: text.to_owned(),
            config,
            authorities,
            password_file,
        })
    }

    /// What a connection to each host needs, with the password as it is in its file now.
    pub(super) fn configs(&self) -> Result<Vec<Config>, HistoryError> {
        let all = self.config()?;
        let (hosts, addresses, ports) = (all.get_hosts(), all.get_hostaddrs(), all.get_ports());
        if hosts.len() < 2 {
            return Ok(vec![all]);
        }
        let one = |(number, host): (usize, &Host)| {
            let mut config = Config::new();
            match host {
                Host::Tcp(name) => config.host(name),
                Host::Unix(path) => config.host_path(path),
            };
            if let Some(address) = addresses.get(number) {
                config.hostaddr(*address);
            }
            if let Some(port) = ports.get(number).or(ports.first()) {
                config.port(*port);
            }
            config
                .ssl_mode(all.get_ssl_mode())
                .ssl_negotiation(all.get_ssl_negotiation())
                .target_session_attrs(all.get_target_session_attrs())
                .channel_binding(all.get_channel_binding());
            if let Some(user) = all.get_user() {
                config.user(user);
            }
            if let Some(database) = all.get_dbname() {
                config.dbname(database);
            }
            if let Some(options) = all.get_options() {
                config.options(options);
            }
            if let Some(name) = all.get_application_name() {
                config.application_name(name);
            }
            if let Some(password) = all.get_password() {
                config.password(password);
            }
            config
        };
        Ok(hosts.iter().enumerate().map(one).collect())
    }

    fn config(&self) -> Result<Config, HistoryError> {
        let mut config = self.config.clone();
        let mode = if self.is_local() {
            SslMode::Disable
        } else {
            SslMode::Require
        };
        config.ssl_mode(mode);
        if let Some(path) = &self.password_file {
            let file = PasswordFile::read(path)?;
            let host = match config.get_hosts().first() {
                Some(Host::Tcp(name)) => name.clone(),
                _ => "localhost".to_owned(),
            };
            let port = config.get_ports().first().copied().unwrap_or(5432);
            let (database, user) = (config.get_dbname(), config.get_user());
            let desired = [
                &*host,
                &port.to_string(),
                database.unwrap_or_default(),
                user.unwrap_or_default(),
            ];
            let Some(password) = file.password(&desired) else {
                let (path, desired) = (path.display(), desired.join(":"));
                let text = format!("{path} has no line for the server: add `{desired}:PASSWORD`");
                return Err(HistoryError::Address(text));
            };
            config.password(password);
        }
        Ok(config)
    }

    /// How a connection is encrypted. `None`: it does not leave the host.
    pub(super) fn tls(&self) -> Result<Option<MakeRustlsConnect>, HistoryError> {
        if self.is_local() {
            return Ok(None);
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring knows TLS 1.2 and 1.3");
        let builder = match &self.authorities {
            Some(path) => builder.with_root_certificates(authorities(path)?),
            None => builder
                .with_platform_verifier()
                .map_err(|error| HistoryError::Address(error.to_string()))?,
        };
        Ok(Some(MakeRustlsConnect::new(builder.with_no_client_auth())))
    }

    /// Whether all its hosts are this one. `hostaddr` replaces what their names mean.
    fn is_local(&self) -> bool {
        let addresses = self.config.get_hostaddrs();
        addresses.iter().all(IpAddr::is_loopback)
            && self.config.get_hosts().iter().all(|host| match host {
                Host::Unix(_) => true,
                Host::Tcp(name) => {
                    name == "localhost"
                        || name
                            .parse::<IpAddr>()
                            .is_ok_and(|address| address.is_loopback())
                }
            })
    }
}

fn authorities(path: &Path) -> Result<rustls::RootCertStore, HistoryError> {
    let failed = |error: &dyn fmt::Display| {
        HistoryError::Address(format!("cannot read {}: {error}", path.display()))
    };
    let mut store = rustls::RootCertStore::empty();
    let certificates = CertificateDer::pem_file_iter(path).map_err(|error| failed(&error))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| failed(&error))?;
        store.add(certificate).map_err(|error| failed(&error))?;
    }
    if store.is_empty() {
        return Err(failed(&"it has no certificate"));
    }
    Ok(store)
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl fmt::Debug for ServerAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_no_password_and_verify_the_server() {
        for (text, expected) in [
            ("postgresql://u@db.example.com/st", Some(false)),
            ("postgres://u@127.0.0.1:5433/st", Some(true)),
            ("postgresql://u@%2Frun%2Fpostgresql/st", Some(true)),
            ("postgresql:///st?host=/run/postgresql&user=u", Some(true)),
            (
                "postgresql://u@db/st?sslmode=verify-full&sslrootcert=/ca.pem",
                Some(false),
            ),
            (
                "postgresql://u@localhost/st?hostaddr=192.0.2.1",
                Some(false),
            ),
            ("postgresql://u@localhost/st?hostaddr=::1", Some(true)),
            ("postgresql://u:secret@db/st", None),
            ("postgresql://u@db/st?password=secret", None),
            ("postgresql://u@db/st?sslmode=require", None),
            ("postgresql://u@db/st?sslmode=disable", None),
            ("postgresql://u@db/st?colour=blue", None),
            ("postgresql://u@db", None),
            ("postgresql:///st", None),
        ] {
            let parsed = ServerAddress::parse(text);
            let is_local = parsed.as_ref().ok().map(ServerAddress::is_local);
            assert_eq!(is_local, expected, "{text}: {parsed:?}");
        }
    }

    #[test]
    fn errors_have_no_password() {
        for text in [
            "postgresql://u:secret@db/st",
            "postgresql://u:sec%zzret@db/st",
        ] {
            let error = ServerAddress::parse(text).unwrap_err();
            assert!(
                !crate::error_chain::chain(&error).contains("sec"),
                "{error}"
            );
        }
    }
}
