//! The login phase (RFC 7143, section 6): who an initiator is, and what both sides agree on. A pure state machine:
//! requests go in, responses come out.

use super::pdu::Login;
use super::text::{from_hex, shortened, to_hex};
use md5::{Digest, Md5};

/// The name and the secret that an initiator must know (CHAP, RFC 1994).
#[derive(Clone, PartialEq, Eq)]
pub struct Chap {
    /// The user.
    pub user: String,
    /// Its secret, which never goes over the wire.
    pub secret: String,
    /// User and secret by which the target proves itself to an initiator that asks for it.
    pub own: Option<(String, String)>,
}

/// The user only.
impl std::fmt::Debug for Chap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CHAP of {}", self.user)
    }
}

/// Status of a login response: class in the high byte, detail in the low one.
pub(crate) mod status {
    pub const SUCCESS: u16 = 0x0000;
    pub const INITIATOR_ERROR: u16 = 0x0200;
    pub const AUTHENTICATION: u16 = 0x0201;
    pub const NOT_FOUND: u16 = 0x0203;
    pub const VERSION: u16 = 0x0205;
    pub const TOO_MANY_CONNECTIONS: u16 = 0x0206;
    pub const MISSING: u16 = 0x0207;
    pub const SESSION_TYPE: u16 = 0x0209;
    pub const OUT_OF_RESOURCES: u16 = 0x0302;
}

/// A login that is refused: the status for the initiator, and why, for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub status: u16,
    pub why: String,
}

impl Refused {
    pub fn new(status: u16, why: impl Into<String>) -> Refused {
        Refused {
            status,
            why: why.into(),
        }
    }
}

/// What both sides agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Agreed {
    pub initiator: String,
    pub is_discovery: bool,
    pub header_digest: bool,
    pub data_digest: bool,
    /// Bytes of data that the initiator takes in one PDU.
    pub send_most: usize,
    pub max_burst: usize,
    pub first_burst: usize,
    pub initial_r2t: bool,
    pub immediate_data: bool,
}

/// Bytes of data that we take in one PDU.
pub(crate) const RECEIVE_MOST: usize = 1 << 20;
const BURST_MOST: usize = 16 << 20;

/// The stages of a login.
const SECURITY: u8 = 0;
const OPERATIONAL: u8 = 1;
const FULL_FEATURE: u8 = 3;

/// A login under way.
pub(crate) struct LoginPhase<'a> {
    target: &'a str,
    chap: Option<&'a Chap>,
    challenge: [u8; 16],
    stage: Option<u8>,
    security: Security,
    has_told_portal_group: bool,
    agreed: Agreed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Security {
    Open,
    /// CHAP was chosen; the algorithm comes next.
    Chosen,
    Challenged,
    Proven,
}

/// A step of the login.
#[derive(Debug)]
pub(crate) struct Step {
    pub transits: bool,
    pub pairs: Vec<(String, String)>,
    /// The login is over and the session begins.
    pub is_done: bool,
}

impl<'a> LoginPhase<'a> {
    pub fn new(target: &'a str, chap: Option<&'a Chap>, challenge: [u8; 16]) -> LoginPhase<'a> {
        LoginPhase {
            target,
            chap,
            challenge,
            stage: None,
            security: Security::Open,
            has_told_portal_group: false,
            agreed: Agreed {
                initiator: String::new(),
                is_discovery: false,
                header_digest: false,
                data_digest: false,
                send_most: 8192,
                max_burst: 262_144,
                first_burst: 65_536,
                initial_r2t: true,
                immediate_data: true,
            },
        }
    }

    /// What was agreed so far; all of it once a step is done.
    pub fn agreed(&self) -> &Agreed {
        &self.agreed
    }

    /// Takes one request with all its text.
    pub fn step(&mut self, login: &Login, pairs: &[(String, String)]) -> Result<Step, Refused> {
        if login.version_min != 0 {
            let why = format!("speaks version {} and later only", login.version_min);
            return Err(Refused::new(status::VERSION, why));
        }
        let is_first = self.stage.is_none();
        let is_in_order =
            self.stage.is_none_or(|stage| stage <= login.stage) && login.stage <= OPERATIONAL;
        let goes_on = !login.transits || (login.next_stage > login.stage && login.next_stage != 2);
        if !is_in_order || !goes_on {
            let why = format!("went from stage {} to {}", login.stage, login.next_stage);
            return Err(Refused::new(status::INITIATOR_ERROR, why));
        }
        if is_first {
            self.identify(pairs)?;
        }
        self.stage = Some(login.stage);
        let mut answers = Vec::new();
        if login.stage == SECURITY {
            self.authenticate(pairs, &mut answers)?;
        }
        self.negotiate(pairs, &mut answers);
        if !self.has_told_portal_group && !self.agreed.is_discovery {
            self.has_told_portal_group = true;
            tell(&mut answers, "TargetPortalGroupTag", "1");
        }
        let is_trusted = self.chap.is_none() || self.security == Security::Proven;
        if login.stage == OPERATIONAL && !is_trusted {
            return Err(Refused::new(
                status::AUTHENTICATION,
                "did not authenticate itself, and CHAP is required",
            ));
        }
        let transits = login.transits && is_trusted;
        if transits && login.next_stage == FULL_FEATURE {
            let most = RECEIVE_MOST.to_string();
            tell(&mut answers, "MaxRecvDataSegmentLength", &most);
        }
        if transits {
            self.stage = Some(login.next_stage);
        }
        Ok(Step {
            transits,
            pairs: answers,
            is_done: transits && login.next_stage == FULL_FEATURE,
        })
    }

    fn identify(&mut self, pairs: &[(String, String)]) -> Result<(), Refused> {
        let find = |key: &str| {
            pairs
                .iter()
                .find(|(one, _)| one == key)
                .map(|(_, value)| value.as_str())
        };
        let Some(initiator) =
            find("InitiatorName").filter(|name| !name.is_empty() && name.len() <= 223)
        else {
            return Err(Refused::new(
                status::MISSING,
                "sent no InitiatorName of at most 223 bytes",
            ));
        };
        self.agreed.initiator = shortened_name(initiator);
        match find("SessionType").unwrap_or("Normal") {
            "Discovery" => self.agreed.is_discovery = true,
            "Normal" => match find("TargetName") {
                Some(name) if name == self.target => {}
                Some(name) => {
                    let why = format!(
                        "asked for the target {:?}, which is not here",
                        shortened(name)
                    );
                    return Err(Refused::new(status::NOT_FOUND, why));
                }
                None => return Err(Refused::new(status::MISSING, "sent no TargetName")),
            },
            other => {
                let why = format!("wanted a session of type {:?}", shortened(other));
                return Err(Refused::new(status::SESSION_TYPE, why));
            }
        }
        Ok(())
    }

    fn authenticate(
        &mut self,
        pairs: &[(String, String)],
        answers: &mut Vec<(String, String)>,
    ) -> Result<(), Refused> {
        let find = |key: &str| {
            pairs
                .iter()
                .find(|(one, _)| one == key)
                .map(|(_, value)| value.as_str())
        };
        let refuse = |why: String| Err(Refused::new(status::AUTHENTICATION, why));
        if let Some(methods) = find("AuthMethod") {
            let wanted = if self.chap.is_some() { "CHAP" } else { "None" };
            if !methods.split(',').any(|method| method == wanted) {
                return refuse(format!(
                    "offers {:?} to authenticate, and {wanted} is needed",
                    shortened(methods)
                ));
            }
            tell(answers, "AuthMethod", wanted);
            if self.chap.is_some() {
                self.security = Security::Chosen;
            }
        }
        let Some(chap) = self.chap else {
            return Ok(());
        };
        if let (Security::Chosen, Some(algorithms)) = (self.security, find("CHAP_A")) {
            if !algorithms.split(',').any(|one| one == "5") {
                return refuse(format!(
                    "has no CHAP with MD5, but {:?}",
                    shortened(algorithms)
                ));
            }
            tell(answers, "CHAP_A", "5");
            tell(answers, "CHAP_I", &self.challenge[0].to_string());
            tell(answers, "CHAP_C", &to_hex(&self.challenge));
            self.security = Security::Challenged;
            return Ok(());
        }
        if let (Security::Challenged, Some(response)) = (self.security, find("CHAP_R")) {
            let name = find("CHAP_N").unwrap_or("");
            let expected = chap_response(self.challenge[0], &chap.secret, &self.challenge);
            let is_right = from_hex(response).is_some_and(|bytes| bytes == expected);
            if name != chap.user || !is_right {
                return refuse(format!(
                    "gave a wrong name or secret, as {:?}",
                    shortened(name)
                ));
            }
            if let Some(challenge) = find("CHAP_C") {
                self.prove(chap, find("CHAP_I"), challenge, answers)?;
            }
            self.security = Security::Proven;
        }
        Ok(())
    }

    /// Answers the initiator's challenge with the target's own secret.
    fn prove(
        &self,
        chap: &Chap,
        identifier: Option<&str>,
        challenge: &str,
        answers: &mut Vec<(String, String)>,
    ) -> Result<(), Refused> {
        let refuse = |why: &str| Err(Refused::new(status::AUTHENTICATION, why));
        let Some((user, secret)) = &chap.own else {
            return refuse(
                "wanted this target to authenticate itself, which has no secret for that",
            );
        };
        let identifier = identifier.and_then(|text| text.parse::<u8>().ok());
        let challenge = from_hex(challenge).filter(|bytes| (1..=1024).contains(&bytes.len()));
        let (Some(identifier), Some(challenge)) = (identifier, challenge) else {
            return refuse("sent a challenge that cannot be understood");
        };
        // Our own challenge coming back is somebody who wants us to answer it (RFC 7143, 9.2.1).
        if challenge == self.challenge {
            return refuse("sent this target's own challenge back");
        }
        tell(answers, "CHAP_N", user);
        let response = chap_response(identifier, secret, &challenge);
        tell(answers, "CHAP_R", &to_hex(&response));
        Ok(())
    }

    /// The operational keys: for each one offered, the answer.
    fn negotiate(&mut self, pairs: &[(String, String)], answers: &mut Vec<(String, String)>) {
        for (key, value) in pairs {
            let answer = match key.as_str() {
                "InitiatorName" | "InitiatorAlias" | "TargetName" | "SessionType"
                | "AuthMethod" => continue,
                "CHAP_A" | "CHAP_N" | "CHAP_R" | "CHAP_I" | "CHAP_C" => continue,
                "HeaderDigest" => digest(value, &mut self.agreed.header_digest),
                "DataDigest" => digest(value, &mut self.agreed.data_digest),
                "MaxRecvDataSegmentLength" => {
                    match number(value, 512, (1 << 24) - 1) {
                        Some(most) => self.agreed.send_most = most,
                        None => tell(answers, key, "Reject"),
                    }
                    continue;
                }
                "MaxBurstLength" => lower(value, BURST_MOST, &mut self.agreed.max_burst),
                "FirstBurstLength" => lower(value, RECEIVE_MOST, &mut self.agreed.first_burst),
                "InitialR2T" => {
                    self.agreed.initial_r2t = value != "No";
                    yes_or_no(self.agreed.initial_r2t)
                }
                "ImmediateData" => {
                    self.agreed.immediate_data = value == "Yes";
                    yes_or_no(self.agreed.immediate_data)
                }
                "MaxConnections" | "MaxOutstandingR2T" | "iSCSIProtocolLevel" => "1".to_owned(),
                "DefaultTime2Wait" => number(value, 0, 3600)
                    .map_or("Reject".to_owned(), |wait| wait.max(2).to_string()),
                "DefaultTime2Retain" | "ErrorRecoveryLevel" => "0".to_owned(),
                "DataPDUInOrder" | "DataSequenceInOrder" => "Yes".to_owned(),
                "OFMarker" | "IFMarker" => "No".to_owned(),
                "TaskReporting" => "RFC3720".to_owned(),
                _ => "NotUnderstood".to_owned(),
            };
            tell(answers, key, &answer);
        }
        self.agreed.first_burst = self.agreed.first_burst.min(self.agreed.max_burst);
    }
}

fn tell(answers: &mut Vec<(String, String)>, key: &str, value: &str) {
    answers.push((key.to_owned(), value.to_owned()));
}

/// The first of the digests offered that we have.
fn digest(offered: &str, chosen: &mut bool) -> String {
    let known = offered
        .split(',')
        .find(|one| ["CRC32C", "None"].contains(one));
    *chosen = known == Some("CRC32C");
    known.unwrap_or("Reject").to_owned()
}

fn number(text: &str, least: usize, most: usize) -> Option<usize> {
    let number = match text.strip_prefix("0x") {
        Some(digits) => usize::from_str_radix(digits, 16).ok()?,
        None => text.parse().ok()?,
    };
    (least..=most).contains(&number).then_some(number)
}

/// The lower one of what is offered and what we take.
fn lower(offered: &str, most: usize, chosen: &mut usize) -> String {
    match number(offered, 512, (1 << 24) - 1) {
        Some(offered) => {
            *chosen = offered.min(most);
            chosen.to_string()
        }
        None => "Reject".to_owned(),
    }
}

fn yes_or_no(yes: bool) -> String {
    if yes { "Yes" } else { "No" }.to_owned()
}

fn shortened_name(name: &str) -> String {
    name.chars().filter(|one| !one.is_control()).collect()
}

/// What CHAP with MD5 answers to a challenge (RFC 1994, 4.1): identifier, secret, challenge.
fn chap_response(identifier: u8, secret: &str, challenge: &[u8]) -> Vec<u8> {
    let mut hash = Md5::new();
    hash.update([identifier]);
    hash.update(secret.as_bytes());
    hash.update(challenge);
    hash.finalize().to_vec()
}

#[cfg(test)]
mod tests;
