//! The address of a device at an iSCSI target.

/// `iscsi://[user[%password]@]host[:port]/target/lun`, in its parts.
#[derive(Clone, PartialEq, Eq)]
pub struct IscsiUrl {
    pub(super) user: Option<(String, String)>,
    pub(super) portal: String,
    pub(super) target: String,
    pub(super) lun: u16,
}

impl IscsiUrl {
    /// Takes the address apart; `None` when a part is missing or the unit is no number.
    pub fn parse(text: &str) -> Option<IscsiUrl> {
        let rest = text.strip_prefix("iscsi://")?;
        let (host, path) = rest.split_once('/')?;
        let (user, portal) = match host.rsplit_once('@') {
            Some((user, portal)) => (Some(user.split_once('%').unwrap_or((user, ""))), portal),
            None => (None, host),
        };
        let (target, lun) = path.rsplit_once('/')?;
        let is_whole = !portal.is_empty() && !target.is_empty() && !target.contains('/');
        is_whole.then_some(IscsiUrl {
            user: user.map(|(name, password)| (name.to_owned(), password.to_owned())),
            portal: portal.to_owned(),
            target: target.to_owned(),
            lun: lun.parse().ok()?,
        })
    }
}

/// The address without the password.
impl std::fmt::Display for IscsiUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "iscsi://")?;
        if let Some((user, _)) = &self.user {
            write!(f, "{user}@")?;
        }
        write!(f, "{}/{}/{}", self.portal, self.target, self.lun)
    }
}

impl std::fmt::Debug for IscsiUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart() {
        let url = IscsiUrl::parse("iscsi://me%secret@[::1]:3261/iqn.2026-01.local.vtl:lib0/3")
            .expect("an address");
        assert_eq!(url.user, Some(("me".to_owned(), "secret".to_owned())));
        assert_eq!(url.portal, "[::1]:3261");
        assert_eq!(url.target, "iqn.2026-01.local.vtl:lib0");
        assert_eq!(url.lun, 3);
    }

    #[test]
    fn an_address_never_shows_its_password() {
        let url = IscsiUrl::parse("iscsi://me%secret@host/iqn.a:b/1").expect("an address");
        assert_eq!(url.to_string(), "iscsi://me@host/iqn.a:b/1");
        assert!(!format!("{url:?}").contains("secret"));
    }

    #[test]
    fn an_address_that_lacks_a_part_is_none() {
        for text in [
            "iscsi://host",
            "iscsi://host/iqn.a:b",
            "iscsi://host/iqn.a:b/x",
            "iscsi:///iqn.a:b/1",
            "iscsi://host//1",
            "http://host/iqn.a:b/1",
        ] {
            assert_eq!(IscsiUrl::parse(text), None, "{text}");
        }
    }
}
