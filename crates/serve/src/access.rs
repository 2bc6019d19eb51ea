//! Who may do what: the holder of the token file, users with tokens of their own, and bearers of WLCG tokens.
//!
//! Whoever is let in is a [`Who`]: a name under which requests are entered, and what is allowed. One user does not see
//! the requests of another.

mod issuer;
mod jwk;
mod jwt;
mod scope;

pub(crate) use scope::Deed;

use crate::area::Area;
use crate::names::meanings;
use crate::problem::Problem;
use crate::settings::{IssuerSettings, May, ServeSettings, UserSettings};
use crate::token::{Hash, Token, hash};
use axum::http::{StatusCode, header};
use issuer::Issuer;
use scope::Grant;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tapewise_archive::deliver::shown;

/// The name of whoever has the token of the token file.
const HOLDER: &str = "http";

/// Who may use a service.
pub struct Access {
    users: HashMap<Hash, Arc<Who>>,
    issuers: Vec<Issuer>,
}

/// Somebody who was let in.
#[derive(Debug)]
pub(crate) struct Who {
    /// As requests and the audit trail name it.
    pub name: String,
    /// What the user may do besides what the grants allow; none for the bearer of a WLCG token.
    may: May,
    /// The token itself says what is allowed, also with requests that its owner sent with another one.
    has_scopes: bool,
    grants: Vec<Grant>,
}

/// Why nobody can be let in as the settings want it.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {why}")]
pub struct AccessError {
    path: PathBuf,
    why: String,
}

impl Access {
    /// Those who may come in by these settings, whose files are named from `directory`, and the holder of the token.
    ///
    /// # Errors
    /// A file with keys that cannot be used.
    pub fn of(
        settings: &ServeSettings,
        directory: &Path,
        token: &Token,
    ) -> Result<Access, AccessError> {
        let holder = Who::user(HOLDER, May::Operate, &[Area::default()]);
        let users = settings.users.iter().map(|user| (user.sha256.0, of(user)));
        let issuers = settings.issuers.iter();
        let issuers = issuers.map(|issuer| self::issuer(issuer, settings, directory));
        Ok(Access {
            users: users.chain([(token.hash(), Arc::new(holder))]).collect(),
            issuers: issuers.collect::<Result<_, _>>()?,
        })
    }

    /// Takes over the keys of issuers from those who might come in before.
    pub(crate) fn keep_keys_of(&self, before: &Access, now_ns: i64) {
        for issuer in &self.issuers {
            let mut known = before.issuers.iter();
            if let Some(before) = known.find(|before| before.name == issuer.name) {
                issuer.keep_keys_of(before, now_ns);
            }
        }
    }

    /// Who has a secret: a token from a file, or one that an issuer signed. It may wait for the issuer's keys.
    ///
    /// # Errors
    /// Why nobody is let in with it.
    pub(crate) fn who(&self, secret: &str, now_ns: i64) -> Result<Arc<Who>, Problem> {
        if let Some(user) = self.users.get(&hash(secret)) {
            return Ok(Arc::clone(user));
        }
        if self.issuers.is_empty() || !jwt::is_like(secret) {
            return Err(unknown(
                "It is not one of the tokens that this service knows.",
            ));
        }
        let token = jwt::Unverified::of(secret).map_err(refused)?;
        let issuer = self.issuers.iter();
        let issuer = issuer.clone().find(|issuer| issuer.name == token.issuer());
        let issuer = issuer.ok_or_else(|| refused("its issuer is not known here"))?;
        let keys = issuer.keys(token.key_id(), now_ns).map_err(|why| {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "No keys", why)
                .with(header::RETRY_AFTER, "60")
        })?;
        let now_s = now_ns as f64 / 1e9;
        let claims = token.verified(&keys, &issuer.audiences, now_s);
        let claims = claims.map_err(refused)?;
        let grants = scope::grants(&claims.scope, &issuer.root).map_err(refused)?;
        Ok(Arc::new(Who {
            // No user of the settings can have such a name.
            name: format!("{} {}", claims.iss, claims.sub),
            may: May::Stage,
            has_scopes: true,
            grants,
        }))
    }
}

/// A user of the settings.
fn of(user: &UserSettings) -> Arc<Who> {
    let areas: Vec<Area> = user.paths.iter().map(|path| path.0.clone()).collect();
    Arc::new(Who::user(&user.name, user.may, &areas))
}

fn issuer(
    written: &IssuerSettings,
    settings: &ServeSettings,
    directory: &Path,
) -> Result<Issuer, AccessError> {
    let name = written.issuer.clone();
    let audiences = if written.audiences.is_empty() {
        settings.url.iter().cloned().collect()
    } else {
        written.audiences.clone()
    };
    let audiences = [audiences, vec![jwt::ANY_AUDIENCE.to_owned()]].concat();
    let root = written.root.0.clone();
    let at = |path: &PathBuf| directory.join(path);
    if let Some(path) = written.jwks_file.as_ref().map(at) {
        let keys = std::fs::read(&path).map_err(|error| error.to_string());
        let keys = keys.and_then(|text| jwk::keys(&text));
        let keys = keys.map_err(|why| AccessError { path, why })?;
        return Ok(Issuer::with_keys(name, audiences, root, keys));
    }
    let authorities = written.ca_file.as_ref().map(at);
    let ask = issuer::over_https(authorities.as_deref());
    let path = authorities.unwrap_or_default();
    let ask = ask.map_err(|why| AccessError { path, why })?;
    Ok(Issuer::asked(name, audiences, root, ask))
}

/// A 401 as RFC 6750 wants it.
fn unknown(detail: impl Into<String>) -> Problem {
    let problem = Problem::new(StatusCode::UNAUTHORIZED, "No valid token", detail);
    problem.with(header::WWW_AUTHENTICATE, "Bearer error=\"invalid_token\"")
}

fn refused(why: impl AsRef<str>) -> Problem {
    unknown(format!("The token is refused: {}.", why.as_ref()))
}

/// A deed is not allowed at a path, as it was spelled.
fn refusal(deed: Deed, spelling: &[u8]) -> Problem {
    let what = match deed {
        Deed::Stage => "stage",
        Deed::Locate => "ask where to find",
        Deed::Read => "read",
    };
    let path = shown(spelling);
    forbidden(format!(
        "This token does not allow you to {what} \"{path}\"."
    ))
}

/// A 403 as RFC 6750 wants it.
fn forbidden(detail: impl Into<String>) -> Problem {
    let problem = Problem::new(StatusCode::FORBIDDEN, "Not allowed", detail);
    problem.with(
        header::WWW_AUTHENTICATE,
        "Bearer error=\"insufficient_scope\"",
    )
}

impl Who {
    /// A user of the settings, who may do below these directories what the role says.
    fn user(name: &str, may: May, areas: &[Area]) -> Who {
        let deeds: &[Deed] = match may {
            May::Watch => &[],
            May::Stage | May::Operate => &[Deed::Stage, Deed::Locate, Deed::Read],
        };
        let grants = areas
            .iter()
            .flat_map(|area| deeds.iter().map(|&deed| (deed, area.clone())));
        Who {
            name: name.to_owned(),
            may,
            has_scopes: false,
            grants: grants.collect(),
        }
    }

    fn is_granted(&self, deed: Deed, path: &[u8]) -> bool {
        let mut grants = self.grants.iter();
        grants.any(|(granted, area)| *granted == deed && area.covers(path))
    }

    /// Whether a deed is allowed at a path of the archive, which is empty for all of it.
    ///
    /// # Errors
    /// A refusal that names the path.
    pub fn check_at(&self, deed: Deed, path: &[u8]) -> Result<(), Problem> {
        if self.is_granted(deed, path) {
            Ok(())
        } else {
            Err(refusal(deed, &[b"/", path].concat()))
        }
    }

    /// Whether a deed is allowed with everything that a client's path may mean. A path that means nothing is allowed:
    /// it leads to no file.
    ///
    /// # Errors
    /// A refusal that names the path.
    pub fn check(&self, deed: Deed, spelling: impl AsRef<[u8]>) -> Result<(), Problem> {
        let spelling = spelling.as_ref();
        let meanings = meanings(spelling).unwrap_or_default();
        if meanings.iter().all(|path| self.is_granted(deed, path)) {
            return Ok(());
        }
        Err(refusal(deed, spelling))
    }

    /// Whether a deed is allowed with a file of an own request. A user of the settings looks after all of them, also of
    /// those whose files the settings have taken away since; of the bearer of a WLCG token, which may be one of many with
    /// the same subject, the scopes decide.
    ///
    /// # Errors
    /// A refusal that names the path.
    pub fn check_own(&self, deed: Deed, spelling: impl AsRef<[u8]>) -> Result<(), Problem> {
        if self.has_scopes {
            self.check(deed, spelling)
        } else {
            Ok(())
        }
    }

    /// Whether everything that goes on may be seen, and not only the user's own requests.
    ///
    /// # Errors
    /// A refusal.
    pub fn watches(&self) -> Result<(), Problem> {
        match self.may {
            May::Watch | May::Operate => Ok(()),
            May::Stage => Err(forbidden(
                "This shows the requests of everybody. Use the token of an operator, or of a user who may \"watch\".",
            )),
        }
    }

    /// Whether everything may be done.
    ///
    /// # Errors
    /// A refusal.
    pub fn operates(&self) -> Result<(), Problem> {
        match self.may {
            May::Operate => Ok(()),
            May::Watch | May::Stage => Err(forbidden(
                "Only operators may do this. Use the token of the token file, or of a user who may \"operate\".",
            )),
        }
    }
}
