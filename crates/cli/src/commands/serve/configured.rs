//! `serve.toml`, and what the command line says instead.

use super::Serve;
use crate::error::{CliError, Exit};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tapewise_serve::{
    Access, AccessError, ServeSettings, Site, TlsSettings, Token, TokenError, open_audit_file,
};

/// The settings, and where the files lie that they name.
pub struct Configured {
    pub settings: ServeSettings,
    directory: PathBuf,
}

/// The file with the settings: the one that was named, or `serve.toml` in the archive, which may be absent.
pub fn file(args: &Serve) -> PathBuf {
    let usual = || args.archive.join("serve.toml");
    args.settings.clone().unwrap_or_else(usual)
}

impl Configured {
    /// Reads the settings.
    pub fn of(args: &Serve) -> Result<Configured, CliError> {
        let path = file(args);
        let directory = path.parent().map(Path::to_owned).unwrap_or_default();
        if args.settings.is_none() && !path.exists() {
            let settings = ServeSettings::default();
            return Ok(Configured {
                settings,
                directory,
            });
        }
        let at = |error: std::io::Error| CliError::input(error).of(path.display());
        let mode = std::fs::metadata(&path).map_err(at)?.mode() & 0o7777;
        if mode & 0o022 != 0 {
            let said = format!(
                "{}: other users can change this file (mode {mode:04o}), which says who may do what",
                path.display()
            );
            let hint = format!("`chmod go-w {}`", path.display());
            return Err(CliError::with(Exit::Refused, said).hint(hint));
        }
        let text = std::fs::read_to_string(&path).map_err(at)?;
        let settings = ServeSettings::of(&text);
        let settings = settings.map_err(|error| CliError::input(error).of(path.display()))?;
        Ok(Configured {
            settings,
            directory,
        })
    }

    /// Who may ask.
    pub fn access(&self, token: &Token) -> Result<Access, CliError> {
        let access = Access::of(&self.settings, &self.directory, token);
        access.map_err(|error: AccessError| CliError::input(error))
    }

    /// The address to listen at, as it is written.
    pub fn listen<'a>(&'a self, args: &'a Serve) -> &'a str {
        let written = args.listen.as_deref().or(self.settings.listen.as_deref());
        written.unwrap_or("127.0.0.1:8080")
    }

    /// How the service is called.
    pub fn site(&self, args: &Serve, planner: Option<&'static [u8]>) -> Result<Site, CliError> {
        let url = args.url.as_deref().or(self.settings.url.as_deref());
        let name = args.site.clone().or_else(|| self.settings.site.clone());
        Ok(Site {
            name: name.unwrap_or_else(|| name_of(&args.archive)),
            url: url.map(checked_url).transpose()?,
            is_encrypted: self.settings.tls.is_some(),
            planner,
        })
    }

    /// The files with the certificate and its key.
    pub fn tls(&self) -> Option<TlsSettings> {
        let tls = self.settings.tls.as_ref()?;
        Some(TlsSettings {
            certificate: self.directory.join(&tls.certificate),
            key: self.directory.join(&tls.key),
        })
    }

    /// The file with the audit trail. It is opened once: a service that cannot write it refuses each request.
    pub fn audit_file(&self) -> Result<Option<PathBuf>, CliError> {
        let Some(path) = &self.settings.audit_file else {
            return Ok(None);
        };
        let path = self.directory.join(path);
        match open_audit_file(&path) {
            Ok(_) => Ok(Some(path)),
            Err(error) => {
                let said = format!("the audit trail {}: {error}", path.display());
                let hint = "`audit_file` in serve.toml names a file that the service may write";
                Err(CliError::input(said).hint(hint))
            }
        }
    }

    /// The operator's token, the file that has it, and whether it was made now.
    pub fn token(&self, args: &Serve) -> Result<(Token, PathBuf, bool), CliError> {
        let named = self.settings.token_file.as_ref();
        let named = named.map(|path| self.directory.join(path));
        let usual = || args.archive.join("serve.token");
        let path = args.token_file.clone().or(named).unwrap_or_else(usual);
        let (token, is_new) = Token::of_file(&path).map_err(|error| match error {
            TokenError::Open { .. } => CliError::with(Exit::Refused, error).hint(format!(
                "`chmod 600 {}`, then put another token into it",
                path.display()
            )),
            TokenError::Short { .. } => CliError::input(error)
                .hint("remove the file: the next start makes one with a good token"),
            TokenError::Io { .. } => CliError::failed(error),
        })?;
        Ok((token, path, is_new))
    }
}

fn checked_url(url: &str) -> Result<String, CliError> {
    let rest = url.strip_prefix("https://");
    let rest = rest.or_else(|| url.strip_prefix("http://"));
    let is_plain =
        |rest: &str| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_graphic());
    if rest.is_some_and(is_plain) {
        return Ok(url.to_owned());
    }
    let said = format!("the URL {url} is not an address of a web server");
    Err(CliError::input(said).hint("write https://HOST, with :PORT after it if needed"))
}

/// The name of an archive's directory.
fn name_of(directory: &Path) -> String {
    let whole = directory.canonicalize().unwrap_or_default();
    let name = whole.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
