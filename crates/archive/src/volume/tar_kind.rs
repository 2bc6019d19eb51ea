//! What the member of a tar archive is, by the letter of its header.

/// What a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file; the segment is its contents.
    File,
    /// A file with holes, whose contents on tape only tar can unfold.
    Sparse,
    /// Another name of a file that came before.
    HardLink,
    /// A symbolic link.
    Symlink,
    /// A directory.
    Directory,
    /// A device, a pipe, a volume's name, a part of another tar's: by the letter of its header.
    Other(u8),
}

/// What a member is by its letter; old tars mark directories and sparse files otherwise.
pub(super) fn kind_of(letter: u8, name: &[u8], is_sparse: bool) -> Kind {
    match letter {
        b'0' | 0 | b'7' if is_sparse => Kind::Sparse,
        b'0' | 0 if name.ends_with(b"/") => Kind::Directory,
        b'0' | 0 | b'7' => Kind::File,
        b'1' => Kind::HardLink,
        b'2' => Kind::Symlink,
        b'5' => Kind::Directory,
        b'S' => Kind::Sparse,
        other => Kind::Other(other),
    }
}
