//! The page for the browser, and the copy script for Windows that it saves too.

use crate::program::{CLIPS, Desk, ORDER};

/// Tests run a program that was built without the page; a release is built with it.
#[test]
fn a_program_without_the_page_says_where_to_get_it() {
    let desk = Desk::new();
    let ran = desk.shell("$TAPEWISE page -o page.html");
    if ran.code == 0 {
        assert!(desk.read("page.html").starts_with("<!doctype html>"));
        return;
    }
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.err.contains("make web"), "{}", ran.err);
    assert!(!desk.path().join("page.html").exists());
}

#[test]
fn a_powershell_script_copies_in_the_order_of_the_list() {
    let desk = Desk::new();
    desk.put("clips.csv", CLIPS);
    let order = desk.done(&format!("{ORDER} -q clips.csv"));
    let wanted: Vec<String> = (order.lines().iter())
        .map(|name| format!("Copy-InOrder 'T:/{name}' 'recalled/{name}'"))
        .collect();
    let script = desk.done(&format!(
        "{ORDER} --to powershell --script-from T: -q clips.csv"
    ));
    let copies: Vec<&str> = (script.lines().into_iter())
        .filter(|line| line.starts_with("Copy-InOrder '"))
        .collect();
    assert_eq!(copies, wanted);
}
