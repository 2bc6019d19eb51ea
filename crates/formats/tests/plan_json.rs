//! The JSON plan.

use tapewise_formats::Notice;
use tapewise_formats::plan_json::{
    PLAN_FORMAT, PLAN_VERSION, PlanAction, PlanDocument, PlanPlace, PlanPositions, PlanProfile,
    PlanRated, PlanServed, PlanStep, PlanTotals, PlanWear,
};

fn plan() -> PlanDocument {
    let served = |bytes| PlanServed {
        id: "a.mov".to_string(),
        extent: 0,
        bytes,
    };
    let locate = PlanStep {
        n: 1,
        action: PlanAction::Locate,
        serves: vec![served(0)],
        partition: 1,
        start_block: 40,
        block_count: 0,
        bytes: 0,
        wrap: 0,
        lpos: 2700,
        end_wrap: 0,
        end_lpos: 2700,
        begin_us: 0,
        duration_us: 4_290_000,
    };
    let read = PlanStep {
        n: 2,
        action: PlanAction::Read,
        serves: vec![served(600_000)],
        block_count: 2,
        bytes: 600_000,
        end_lpos: 2701,
        begin_us: 4_290_000,
        duration_us: 2_000,
        ..locate.clone()
    };
    PlanDocument {
        format: PLAN_FORMAT.to_string(),
        version: PLAN_VERSION,
        tool_version: "0.1.0".to_string(),
        seed: 7,
        algorithm: "best/3".to_string(),
        objective: "total".to_string(),
        cut_short: false,
        profile: PlanProfile {
            name: "lto8".to_string(),
            status: "estimate".to_string(),
        },
        model: "lto-regression".to_string(),
        positions: PlanPositions {
            source: "nominal".to_string(),
            error_lpos: Some(1700),
            note: "Positions are nominal; measure the cartridge for better ones.".to_string(),
        },
        head: PlanPlace {
            at: "bot".to_string(),
            ..PlanPlace::default()
        },
        end: PlanPlace {
            at: "anywhere".to_string(),
            ..PlanPlace::default()
        },
        block_size: Some(524_288),
        volume: Some("TST001L8".to_string()),
        totals: PlanTotals {
            requests: 1,
            extents: 1,
            bytes: 600_000,
            locate_us: 4_290_000,
            read_us: 2_000,
            total_us: 4_292_000,
            worst_us: 5_000_000,
            bound_us: Some(3_000_000),
            optimal: false,
            distance_m: Some(0.5),
            distance_lpos: 5,
            wrap_changes: 0,
        },
        wear: Some(PlanWear {
            passes: 0.001,
            loads: 1,
            rated: vec![PlanRated {
                measure: "loads".to_string(),
                life: 20_000,
                share: 0.00005,
            }],
        }),
        steps: vec![locate, read],
        notices: vec![Notice {
            code: "ltfs-layout-assumed".to_string(),
            line: None,
            text: "assumed".to_string(),
        }],
    }
}

fn written(plan: &PlanDocument) -> String {
    let mut out = Vec::new();
    plan.to_writer(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn the_contract_is_as_recorded() {
    insta::assert_snapshot!(written(&plan()));
}

#[test]
fn a_plan_reads_back_as_it_was_and_new_fields_are_ignored() {
    let text = written(&plan());
    assert_eq!(PlanDocument::from_reader(text.as_bytes()).unwrap(), plan());
    let newer = text.replacen("\"seed\"", "\"new_field\": [1], \"seed\"", 1);
    assert_eq!(PlanDocument::from_reader(newer.as_bytes()).unwrap(), plan());
}

#[test]
fn a_plan_from_before_objectives_reads_as_one_for_the_total() {
    let mut text = written(&plan());
    for added in [
        "  \"objective\": \"total\",\n",
        "  \"cut_short\": false,\n",
        ",\n    \"optimal\": false",
    ] {
        assert!(text.contains(added), "{added}");
        text = text.replace(added, "");
    }
    assert_eq!(PlanDocument::from_reader(text.as_bytes()).unwrap(), plan());
}

#[test]
fn other_formats_and_versions_are_refused_before_anything_else() {
    let text = written(&plan());
    for (bad, expected) in [
        (
            text.replace("tapewise-plan", "other"),
            "its format is \"other\", expected \"tapewise-plan\"",
        ),
        ("{}".to_string(), "its format is missing"),
        ("[]".to_string(), "line 1, column"),
        (
            text.replace("\"version\": 1", "\"version\": 2"),
            "the plan is of version 2, this program reads version 1",
        ),
        (
            "{\"format\":\"tapewise-plan\"}".to_string(),
            "version missing",
        ),
        (
            text.replace("\"seed\": 7", "\"seed\": -7"),
            "line 5, column 12",
        ),
        (
            text.replace("\"action\": \"read\"", "\"action\": \"erase\""),
            "unknown variant `erase`",
        ),
        (
            text.replace("\"n\": 2", "\"n\": 3"),
            "step 3 stands where step 2 should",
        ),
        (text[..500].to_string(), "EOF"),
    ] {
        let message = PlanDocument::from_reader(bad.as_bytes())
            .unwrap_err()
            .to_string();
        assert!(
            message.contains(expected),
            "{message}\nexpected: {expected}"
        );
    }
}

#[test]
fn the_example_in_the_documentation_is_this_plan() {
    let page = &tapewise_house::page("reference/plan-json.md");
    let example = page
        .split("```json\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    assert_eq!(example, written(&plan()));
}
