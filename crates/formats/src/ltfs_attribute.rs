//! Extended attributes of a file in an LTFS index: checksums, and those that programs gave it.

/// A checksum stored with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LtfsHash {
    /// The name after `ltfs.hash.`: `sha256sum`.
    pub name: String,
    /// The value as it stands there, mostly hexadecimal digits.
    pub value: String,
    /// Whether the value is base64, as its `type` attribute says.
    pub base64: bool,
}

/// An extended attribute of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LtfsAttribute {
    /// Its name, without the `user.` that Linux puts in front.
    pub name: String,
    /// Its value as it stands there.
    pub value: String,
    /// Whether the value is base64, as its `type` attribute says.
    pub base64: bool,
}
