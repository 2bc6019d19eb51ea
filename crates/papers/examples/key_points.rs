//! How far off key points and estimates are for the hours spent, on five emulated cartridges: the tables of
//! docs/papers/hillyer-1996.md. `make key-points`.

fn main() -> Result<(), tapewise_papers::PaperError> {
    for table in tapewise_papers::learned_key_points(1)? {
        println!("{}\n", table.title);
        println!("| {} |", table.columns.join(" | "));
        println!("|{}", "---|".repeat(table.columns.len()));
        for row in &table.rows {
            println!("| {} |", row.join(" | "));
        }
        println!();
    }
    Ok(())
}
