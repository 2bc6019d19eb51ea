//! Secrets that let a client in: one in a file, others known by their hashes only.

use sha2::{Digest as _, Sha256};
use std::fs::Permissions;
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Shorter secrets can be found by trying.
const SHORTEST: usize = 16;

/// What is kept of a secret. Secrets are compared by it: how far two hashes agree tells nobody anything.
pub(crate) type Hash = [u8; 32];

/// A secret that a file has.
pub struct Token(Hash);

/// Why a token file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Others than its owner can read it.
    #[error("{path}: other users can read or change this file (mode {mode:04o})")]
    Open {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// There is no good secret in it.
    #[error("{path}: the first line is shorter than {SHORTEST} characters")]
    Short {
        /// The file.
        path: PathBuf,
    },
}

impl Token {
    /// Reads the token in a file, or makes the file with a new one; whether it was made.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn of_file(path: &Path) -> Result<(Token, bool), TokenError> {
        let is_new = match std::fs::metadata(path) {
            Ok(found) => {
                let mode = found.mode() & 0o7777;
                if mode & 0o077 != 0 {
                    let path = path.to_owned();
                    return Err(TokenError::Open { path, mode });
                }
                false
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make(path).map_err(at(path))?;
                true
            }
            Err(error) => return Err(at(path)(error)),
        };
        let text = std::fs::read_to_string(path).map_err(at(path))?;
        let secret = text.lines().next().unwrap_or_default().trim();
        if secret.len() < SHORTEST {
            let path = path.to_owned();
            return Err(TokenError::Short { path });
        }
        Ok((Token(hash(secret)), is_new))
    }

    /// What is kept of it.
    pub(crate) fn hash(&self) -> Hash {
        self.0
    }
}

pub(crate) fn hash(secret: &str) -> Hash {
    Sha256::digest(secret.as_bytes()).into()
}

/// A random secret of 244 bits, and its SHA-256 in hexadecimal for `serve.toml`.
pub fn new_secret() -> (String, String) {
    let half = || uuid::Uuid::new_v4().simple().to_string();
    let secret = format!("{}{}", half(), half());
    let digits = hash(&secret).map(|byte| format!("{byte:02x}"));
    (secret, digits.concat())
}

/// Makes a file with a random token, which nobody else can read; it appears whole.
fn make(path: &Path) -> io::Result<()> {
    let directory = path.parent().filter(|name| !name.as_os_str().is_empty());
    let mut file = tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o600))
        .tempfile_in(directory.unwrap_or(Path::new(".")))?;
    writeln!(file, "{}", new_secret().0)?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path)?;
    Ok(())
}

fn at(path: &Path) -> impl Fn(io::Error) -> TokenError {
    move |source| TokenError::Io {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_made_once_private_and_refused_when_others_can_read_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("token");
        let (made, is_new) = Token::of_file(&path).expect("made");
        assert!(is_new);
        let mode = std::fs::metadata(&path).expect("a file").mode();
        assert_eq!(mode & 0o7777, 0o600);
        let text = std::fs::read_to_string(&path).expect("text");
        assert_eq!(text.trim().len(), 64);
        let (read, is_new) = Token::of_file(&path).expect("read");
        assert!(!is_new);
        assert_eq!([made.hash(), read.hash()], [hash(text.trim()); 2]);
        assert_ne!(hash(&text.trim()[1..]), read.hash());

        let open = Permissions::from_mode(0o640);
        std::fs::set_permissions(&path, open).expect("set");
        let refused = Token::of_file(&path).err().expect("refused");
        assert!(refused.to_string().contains("0640"), "{refused}");

        let short = directory.path().join("short");
        std::fs::write(&short, "secret\n").expect("written");
        std::fs::set_permissions(&short, Permissions::from_mode(0o600)).expect("set");
        let refused = Token::of_file(&short).err().expect("refused");
        assert!(refused.to_string().contains("shorter"), "{refused}");
    }
}
