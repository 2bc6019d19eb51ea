//! The page's questions, without a browser.

use serde_json::{Value, json};
use std::io::Cursor;
use tapewise_web::desk::{Desk, Reader};

/// A volume with files of 100 blocks, each `gap` blocks after the last.
fn index(volume: &str, names: &[&str], gap: u64) -> String {
    let file = |(number, name): (u64, &&str)| {
        let bytes = 100 * 524_288;
        let start = 10 + number * gap;
        format!(
            "<file><name>{name}</name><length>{bytes}</length><extentinfo><extent><fileoffset>0</fileoffset>\
             <partition>b</partition><startblock>{start}</startblock><byteoffset>0</byteoffset>\
             <bytecount>{bytes}</bytecount></extent></extentinfo></file>"
        )
    };
    let files: String = (0..).zip(names).map(file).collect();
    format!(
        "<ltfsindex version=\"2.4.0\"><volumeuuid>{volume}-uuid</volumeuuid>\
         <directory><name>{volume}</name><contents>{files}</contents></directory></ltfsindex>"
    )
}

/// A page with files, and what it says to questions.
struct Page {
    desk: Desk,
    files: Vec<String>,
}

impl Page {
    fn ask(&mut self, question: &Value) -> Value {
        let files = self.files.clone();
        let open = move |file: u32| Box::new(Cursor::new(files[file as usize].clone())) as Reader;
        let answer = self.desk.answer(question.to_string().as_bytes(), &open);
        serde_json::from_slice(&answer).expect("JSON")
    }

    fn with(files: &[(&str, String)]) -> (Page, Vec<Value>) {
        let mut page = Page {
            desk: Desk::default(),
            files: files.iter().map(|(_, text)| text.clone()).collect(),
        };
        let read = files.iter().enumerate();
        let read: Vec<Value> = read
            .map(|(file, (name, _))| page.ask(&json!({"ask": "read", "file": file, "name": name})))
            .collect();
        (page, read)
    }

    fn place(&mut self) -> Value {
        self.place_with(Some(524_288))
    }

    fn place_with(&mut self, block_bytes: Option<u64>) -> Value {
        self.ask(&json!({
            "ask": "place", "drive": "lto8", "block_bytes": block_bytes, "ignore_missing": false
        }))
    }

    /// How many blocks each read of the plan has.
    fn blocks(&mut self) -> Vec<u64> {
        self.ask(&json!({"ask": "order", "tape": 0, "order": "sort", "seed": 1}));
        let plan = self.ask(&json!({
            "ask": "write", "tape": 0, "order": "sort", "format": "json", "from": "", "into": ""
        }));
        let plan: Value = serde_json::from_str(plan["text"].as_str().expect("a plan")).unwrap();
        let steps = plan["steps"].as_array().expect("steps").iter();
        let reads = steps.filter(|step| step["action"] == "read");
        reads
            .map(|step| step["block_count"].as_u64().unwrap())
            .collect()
    }
}

#[test]
fn names_are_found_on_two_tapes_and_each_gets_its_order_and_its_turn() {
    let (mut page, read) = Page::with(&[
        ("A.xml", index("A", &["a1", "a2", "a3"], 4_000_000)),
        ("B.xml", index("B", &["b1", "b2", "b3"], 50)),
        ("list.txt", "a3\n/Volumes/B/b2\na1\nb1\nb3\n".to_owned()),
    ]);
    let kinds: Vec<&str> = read
        .iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["index", "index", "names"]);
    let placed = page.place();
    assert_eq!(placed["is"], "placed", "{placed}");
    let tapes: Vec<(&str, u64)> = placed["tapes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tape| {
            (
                tape["title"].as_str().unwrap(),
                tape["files"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(tapes, [("A", 2), ("B", 3)]);
    for tape in 0..2 {
        for order in ["fifo", "sort", "cta", "best"] {
            let found = page.ask(&json!({"ask": "order", "tape": tape, "order": order, "seed": 1}));
            assert_eq!(found["is"], "order", "{found}");
            assert!(found["worst_us"].as_i64() >= found["total_us"].as_i64());
        }
        let path = page.ask(&json!({"ask": "path", "tape": tape, "order": "best"}));
        let steps = path["kinds"].as_str().unwrap().len();
        assert_eq!(path["begin_us"].as_array().unwrap().len(), steps + 1);
        assert_eq!(path["lpos"].as_array().unwrap().len(), 2 * steps);
        // What shares blocks is read at once, and each file counts.
        let read = path["read"].as_array().unwrap().last().cloned();
        assert_eq!(read, Some(placed["tapes"][tape]["files"].clone()), "{path}");
    }
    let rota = page.ask(&json!({"ask": "rota", "drives": 2}));
    assert_eq!(rota["turns"].as_array().unwrap().len(), 2);
    // One drive has to be rewound and emptied before the next tape goes in.
    let one_drive = page.ask(&json!({"ask": "rota", "drives": 1}));
    let time = |turn: usize, what: &str| one_drive["turns"][turn][what].as_u64().unwrap();
    assert!(
        time(1, "begin_us") > time(0, "read_us") + 20_000_000,
        "{one_drive}"
    );
    let script = page.ask(&json!({
        "ask": "write", "tape": 0, "order": "best", "format": "script", "from": "/mnt", "into": "out"
    }));
    assert!(script["text"].as_str().unwrap().contains("a3"), "{script}");
}

#[test]
fn the_plan_is_what_the_facade_gives() {
    let csv =
        "id,start_block,block_count\na,9000000,2000\nb,40000,2000\nc,700000,2000\nd,12000000,100\n";
    let (mut page, _) = Page::with(&[("list.csv", csv.to_owned())]);
    page.place();
    page.ask(&json!({"ask": "order", "tape": 0, "order": "best", "seed": 7}));
    let text = page.ask(&json!({
        "ask": "write", "tape": 0, "order": "best", "format": "json", "from": "", "into": ""
    }));

    let source = tapewise::batch::Source::recognise("list.csv", csv.as_bytes(), None).unwrap();
    let batch = source.requests(Some(524_288)).unwrap();
    let drive = tapewise::model::profile::find("lto8").unwrap();
    let cartridge = tapewise::Cartridge::new(drive).unwrap();
    let placed = cartridge
        .place(batch, &tapewise::Placement::default())
        .unwrap();
    let effort = tapewise::Effort {
        seed: 7,
        ..tapewise::Effort::usual()
    };
    let found = placed.search(&tapewise::Goal::default(), &effort).unwrap();
    let mut plan = Vec::new();
    placed
        .document(&found, &effort)
        .to_writer(&mut plan)
        .unwrap();
    assert_eq!(text["text"].as_str().unwrap().as_bytes(), plan);
}

#[test]
fn what_is_wrong_comes_back_in_words() {
    let bomb =
        "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><ltfsindex>&b;</ltfsindex>";
    for (name, text, words) in [
        (
            "cut.xml",
            "<?xml version=\"1.0\"?><ltfsindex version=\"2.4.0\"><directory>",
            "cut.xml",
        ),
        ("bomb.xml", bomb, "bomb.xml"),
        ("empty.csv", "", ""),
    ] {
        let (mut page, read) = Page::with(&[(name, text.to_owned())]);
        let is_refused = read[0]["is"] == "error" || page.place()["is"] == "error";
        assert!(is_refused, "{name}: {read:?}");
        assert!(
            read[0]["error"]
                .as_str()
                .unwrap_or_default()
                .contains(words),
            "{name}: {read:?}"
        );
    }
    let (mut page, _) = Page::with(&[
        ("A.xml", index("A", &["clip_one.mov"], 10)),
        ("list.txt", "clip_0ne.mov\n".to_owned()),
    ]);
    let refused = page.place();
    assert!(
        refused["error"].as_str().unwrap().contains("clip_one.mov"),
        "{refused}"
    );
    assert_eq!(
        page.ask(&json!({"ask": "order", "tape": 5, "order": "best", "seed": 1}))["is"],
        "error"
    );
    assert_eq!(page.ask(&json!({"ask": "nothing"}))["is"], "error");
}

#[test]
fn requests_that_no_plan_can_hold_together_are_refused() {
    for (name, text, words) in [
        (
            "two.csv",
            "id,volume,start_block,block_count\na,A,1,1\nb,B,9,1\n",
            "on 2 cartridges: A, B",
        ),
        (
            "key.csv",
            "id,sort_key\na,1\n",
            "1 request with a sort key but no block",
        ),
    ] {
        let refused = Page::with(&[(name, text.to_owned())]).0.place();
        let error = refused["error"].as_str().unwrap_or_default();
        assert!(error.contains(words), "{name}: {refused}");
    }
    let (mut page, _) = Page::with(&[
        ("A.xml", index("A", &["a1"], 10)),
        ("one.csv", "id,start_block,block_count\na,1,1\n".to_owned()),
    ]);
    let refused = page.place();
    let error = refused["error"].as_str().unwrap_or_default();
    assert!(error.contains("one.csv has blocks of its own"), "{refused}");
}

#[test]
fn the_size_of_a_block_that_was_given_counts_for_requests_and_for_an_index() {
    let sizes = "id,start_block,size_bytes\na,40,1048576\n".to_owned();
    let mut page = Page::with(&[]).0;
    page.files.push(sizes);
    let read = |page: &mut Page, block_bytes: Option<u64>| {
        page.ask(
            &json!({"ask": "read", "file": 0, "name": "sizes.csv", "block_bytes": block_bytes}),
        )
    };
    assert_eq!(read(&mut page, None)["is"], "error");
    assert_eq!(read(&mut page, Some(524_288))["kind"], "requests");
    for (block_bytes, blocks) in [(524_288, 2), (262_144, 4)] {
        page.place_with(Some(block_bytes));
        assert_eq!(page.blocks(), [blocks]);
    }
    let (mut page, _) = Page::with(&[("A.xml", index("A", &["a1"], 10))]);
    for (block_bytes, blocks) in [(None, 100), (Some(1_048_576), 50)] {
        page.place_with(block_bytes);
        assert_eq!(page.blocks(), [blocks]);
    }
}

#[test]
fn of_two_indexes_of_one_tape_the_newer_one_counts() {
    let of_generation = |generation: u32, names: &[&str]| {
        let uuid = "</volumeuuid>";
        let number = format!("{uuid}<generationnumber>{generation}</generationnumber>");
        index("A", names, 10).replace(uuid, &number)
    };
    let (mut page, _) = Page::with(&[
        ("new.xml", of_generation(8, &["a1", "a2"])),
        ("old.xml", of_generation(7, &["a1"])),
    ]);
    let placed = page.place();
    let tapes = placed["tapes"].as_array().unwrap();
    assert_eq!((tapes.len(), &tapes[0]["files"]), (1, &json!(2)));
    let notice = "old.xml: another index of A; the one of generation 8 counts";
    assert_eq!(placed["notices"][0], notice);
}
