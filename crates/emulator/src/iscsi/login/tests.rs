//! Logins as initiators make them, and as nobody should.

use super::*;
use crate::iscsi::pdu::CommandNumber;

const TARGET: &str = "iqn.2026-11.net.tapewise:test";
const CHALLENGE: [u8; 16] = [7; 16];

fn request(stage: u8, next_stage: u8, transits: bool) -> Login {
    Login {
        transits,
        continues: false,
        stage,
        next_stage,
        version_min: 0,
        isid: [0; 6],
        session: 0,
        task: 1,
        connection: 0,
        order: CommandNumber {
            immediate: true,
            number: 0,
        },
    }
}

fn pairs(text: &[(&str, &str)]) -> Vec<(String, String)> {
    text.iter()
        .map(|(key, value)| (key.to_string(), value.to_string()))
        .collect()
}

fn named(more: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut all = pairs(&[("InitiatorName", "iqn.x:y"), ("TargetName", TARGET)]);
    all.extend(pairs(more));
    all
}

fn answer<'a>(step: &'a Step, key: &str) -> Option<&'a str> {
    step.pairs
        .iter()
        .find(|(one, _)| one == key)
        .map(|(_, value)| value.as_str())
}

#[test]
fn a_login_in_one_step_agrees_on_the_keys() {
    let mut login = LoginPhase::new(TARGET, None, CHALLENGE);
    let offered = named(&[
        ("HeaderDigest", "CRC32C,None"),
        ("DataDigest", "None,CRC32C"),
        ("InitialR2T", "No"),
        ("ImmediateData", "Yes"),
        ("MaxBurstLength", "262144"),
        ("FirstBurstLength", "524288"),
        ("MaxRecvDataSegmentLength", "131072"),
        ("ErrorRecoveryLevel", "2"),
        ("X-net.example.colour", "green"),
    ]);
    let step = login.step(&request(1, 3, true), &offered).unwrap();
    assert!(step.is_done && step.transits);
    assert_eq!(answer(&step, "HeaderDigest"), Some("CRC32C"));
    assert_eq!(answer(&step, "DataDigest"), Some("None"));
    assert_eq!(answer(&step, "ErrorRecoveryLevel"), Some("0"));
    assert_eq!(answer(&step, "X-net.example.colour"), Some("NotUnderstood"));
    let agreed = login.agreed();
    assert!(
        agreed.header_digest && !agreed.data_digest && !agreed.initial_r2t && agreed.immediate_data
    );
    assert_eq!((agreed.send_most, agreed.max_burst), (131_072, 262_144));
    assert_eq!(agreed.first_burst, 262_144, "never more than a burst");
}

#[test]
fn a_secret_is_proven_and_a_wrong_one_is_refused() {
    let chap = Chap {
        user: "reader".to_owned(),
        secret: "twelve-bytes!".to_owned(),
        own: None,
    };
    let right = to_hex(&chap_response(7, "twelve-bytes!", &CHALLENGE));
    let wrong = to_hex(&chap_response(7, "another-secret", &CHALLENGE));
    for (response, is_right) in [(right, true), (wrong, false)] {
        let mut login = LoginPhase::new(TARGET, Some(&chap), CHALLENGE);
        let step = login
            .step(&request(0, 1, true), &named(&[("AuthMethod", "CHAP,None")]))
            .unwrap();
        assert_eq!(answer(&step, "AuthMethod"), Some("CHAP"));
        assert!(!step.transits, "not before the secret is proven");
        let step = login
            .step(&request(0, 1, true), &pairs(&[("CHAP_A", "5")]))
            .unwrap();
        assert_eq!(answer(&step, "CHAP_C"), Some(to_hex(&CHALLENGE).as_str()));
        let proof = pairs(&[("CHAP_N", "reader"), ("CHAP_R", &response)]);
        let step = login.step(&request(0, 1, true), &proof);
        assert_eq!(
            step.as_ref().is_ok_and(|step| step.transits),
            is_right,
            "{step:?}"
        );
        if !is_right {
            assert_eq!(step.unwrap_err().status, status::AUTHENTICATION);
        }
    }
}

#[test]
fn the_target_proves_itself_to_whoever_asks_and_never_answers_its_own_challenge() {
    let own = Some(("library".to_owned(), "the-other-secret".to_owned()));
    let chap = |own| Chap {
        user: "reader".to_owned(),
        secret: "twelve-bytes!".to_owned(),
        own,
    };
    let ask = |chap: &Chap, identifier: &str, challenge: &str| {
        let mut login = LoginPhase::new(TARGET, Some(chap), CHALLENGE);
        let hello = named(&[("AuthMethod", "CHAP")]);
        login.step(&request(0, 1, true), &hello).unwrap();
        login
            .step(&request(0, 1, true), &pairs(&[("CHAP_A", "5")]))
            .unwrap();
        let response = to_hex(&chap_response(7, "twelve-bytes!", &CHALLENGE));
        let proof = [
            ("CHAP_N", "reader"),
            ("CHAP_R", &response),
            ("CHAP_I", identifier),
            ("CHAP_C", challenge),
        ];
        login.step(&request(0, 1, true), &pairs(&proof))
    };
    let with_own = chap(own);
    let step = ask(&with_own, "9", "0x0102030405060708").unwrap();
    let expected = chap_response(9, "the-other-secret", &[1, 2, 3, 4, 5, 6, 7, 8]);
    assert!(step.transits);
    assert_eq!(answer(&step, "CHAP_N"), Some("library"));
    assert_eq!(answer(&step, "CHAP_R"), Some(to_hex(&expected).as_str()));
    for (chap, identifier, challenge) in [
        (&with_own, "9", to_hex(&CHALLENGE)),
        (&with_own, "9", "0x".to_owned()),
        (&with_own, "900", "0x01".to_owned()),
        (&chap(None), "9", "0x01".to_owned()),
    ] {
        let refused = ask(chap, identifier, &challenge).unwrap_err();
        assert_eq!(refused.status, status::AUTHENTICATION, "{challenge}");
    }
}

#[test]
fn the_challenge_cannot_be_walked_around() {
    let chap = Chap {
        user: "reader".to_owned(),
        secret: "secret".to_owned(),
        own: None,
    };
    let mut login = LoginPhase::new(TARGET, Some(&chap), CHALLENGE);
    assert_eq!(
        login
            .step(&request(1, 3, true), &named(&[]))
            .unwrap_err()
            .status,
        status::AUTHENTICATION
    );
    let mut login = LoginPhase::new(TARGET, Some(&chap), CHALLENGE);
    let none = login.step(&request(0, 1, true), &named(&[("AuthMethod", "None")]));
    assert_eq!(none.unwrap_err().status, status::AUTHENTICATION);
    let mut login = LoginPhase::new(TARGET, Some(&chap), CHALLENGE);
    let step = login.step(&request(0, 3, true), &named(&[])).unwrap();
    assert!(!step.transits && !step.is_done);
    let early = pairs(&[("CHAP_N", "reader"), ("CHAP_R", "0x00")]);
    assert!(
        !login.step(&request(0, 3, true), &early).unwrap().transits,
        "no challenge was sent"
    );
}

#[test]
fn what_is_missing_or_elsewhere_is_refused_with_its_status() {
    let refused = |offered: &[(&str, &str)], request: Login| {
        let mut login = LoginPhase::new(TARGET, None, CHALLENGE);
        login.step(&request, &pairs(offered)).unwrap_err().status
    };
    let one = request(1, 3, true);
    assert_eq!(refused(&[("TargetName", TARGET)], one), status::MISSING);
    assert_eq!(refused(&[("InitiatorName", "a")], one), status::MISSING);
    let elsewhere = [("InitiatorName", "a"), ("TargetName", "iqn.elsewhere")];
    assert_eq!(refused(&elsewhere, one), status::NOT_FOUND);
    let strange = [("InitiatorName", "a"), ("SessionType", "Party")];
    assert_eq!(refused(&strange, one), status::SESSION_TYPE);
    let newer = Login {
        version_min: 1,
        ..one
    };
    assert_eq!(refused(&[("InitiatorName", "a")], newer), status::VERSION);
    for (stage, next) in [(1, 1), (1, 0), (3, 3), (0, 2)] {
        let offered = [("InitiatorName", "a"), ("TargetName", TARGET)];
        assert_eq!(
            refused(&offered, request(stage, next, true)),
            status::INITIATOR_ERROR
        );
    }
}
