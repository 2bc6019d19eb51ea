//! Where a database is, and how it is connected to.

use super::encryption::Encryption;
use crate::catalogue::{CatalogueError, Result};
use ::postgres::config::Host;
use ::postgres::{Client, Config, NoTls};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// What a URL of PostgreSQL begins with.
const SCHEMES: [&str; 2] = ["postgresql://", "postgres://"];

/// How long a server may take to answer when it is connected to, and how long sent data may stay unconfirmed.
const PATIENCE: Duration = Duration::from_secs(10);

/// What every session is told: how long it waits for another one's turn; that the server ends it when its host is cut
/// off or hangs in a transaction, before others give up waiting; and that a commit is on disk when it is answered,
/// whatever the server's own setting is.
const SESSION: &str = "SET lock_timeout = '30s'; \
    SET idle_in_transaction_session_timeout = '20s'; \
    SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3; \
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'; \
    SET client_min_messages = warning";

/// Where a database is: `postgresql://user@host:port/database`.
#[derive(Clone)]
pub struct PostgresUrl {
    config: Box<Config>,
    encryption: Encryption,
}

impl PostgresUrl {
    /// Whether a text is meant as such a URL.
    pub fn is_one(text: &str) -> bool {
        SCHEMES.iter().any(|scheme| text.starts_with(scheme))
    }

    /// Connects to the database.
    pub(super) fn connect(&self) -> Result<Client> {
        let mut client = match self.encryption.tls()? {
            Some(tls) => self.config.connect(tls)?,
            None => self.config.connect(NoTls)?,
        };
        client.batch_execute(SESSION)?;
        Ok(client)
    }

    /// Whether it has a password.
    pub fn has_password(&self) -> bool {
        self.config.get_password().is_some()
    }

    /// As errors name it.
    pub(super) fn name(&self) -> PathBuf {
        PathBuf::from(self.to_string())
    }
}

impl FromStr for PostgresUrl {
    type Err = CatalogueError;

    fn from_str(text: &str) -> Result<PostgresUrl> {
        // The text may hold a password: it is not repeated.
        let wrong = |what: String| CatalogueError::NoUrl { what };
        let (text, encryption) = Encryption::split_off(text);
        let parsed = text.parse::<Config>();
        let mut config = parsed.map_err(|error| match std::error::Error::source(&error) {
            Some(source) => wrong(source.to_string()),
            None => wrong(error.to_string()),
        })?;
        if !PostgresUrl::is_one(&text) || config.get_hosts().is_empty() {
            return Err(wrong("it names no host".to_owned()));
        }
        if config.get_dbname().is_none() {
            return Err(wrong("it names no database".to_owned()));
        }
        if let Some(what) = encryption.mistake(config.get_hosts()) {
            return Err(CatalogueError::Encryption { what });
        }
        config.ssl_mode(encryption.mode());
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(PATIENCE);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(PATIENCE);
        }
        if config.get_application_name().is_none() {
            config.application_name("tapewise");
        }
        Ok(PostgresUrl {
            config: Box::new(config),
            encryption,
        })
    }
}

/// Without the password.
impl fmt::Display for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgresql://")?;
        if let Some(user) = self.config.get_user() {
            write!(f, "{user}@")?;
        }
        match self.config.get_hosts().first() {
            Some(Host::Tcp(name)) => f.write_str(name)?,
            Some(Host::Unix(path)) => write!(f, "{}", path.display())?,
            None => {}
        }
        if let Some(port) = self.config.get_ports().first() {
            write!(f, ":{port}")?;
        }
        write!(f, "/{}", self.config.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
