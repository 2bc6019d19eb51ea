//! Programmes of some hundred rows, each result certified by its duals.

use super::{Outcome, Recorded, Relation};
use tapewise_model::Random;

#[test]
fn covers_grow_and_lose_columns() {
    for case in 0..12 {
        let random = &mut Random::new(310, case);
        let mut programme = Recorded::default();
        let (rows, columns) = (60 + 20 * case as u32, 150 + 40 * case as u32);
        for _ in 0..columns {
            programme.add_column(random.below(1_000) as f64 + 1.0, &[]);
        }
        let some = |of: u32, random: &mut Random| {
            let picked = (0..of).filter(|_| random.below(u64::from(of)) < 8);
            picked.collect::<Vec<u32>>()
        };
        for _ in 0..4 {
            for _ in 0..rows / 4 {
                let present: Vec<_> = some(columns, random);
                let terms: Vec<_> = present.iter().map(|&c| (c, 1.0 + random.unit())).collect();
                programme.add_row(Relation::AtLeast, 1.0 + random.unit(), &terms);
            }
            // Rows without a term cannot be met; every other row can, by a column of its own.
            let met = programme.rows.len() as u32;
            for row in 0..met {
                programme.add_column(2_000.0, &[(row, 1.0)]);
            }
            assert_eq!(programme.optimise(), Outcome::Optimal, "case {case}");
            programme.certify(&format!("case {case}"));
            for column in some(columns, random) {
                programme.forbid(column, true);
            }
            assert_eq!(programme.optimise(), Outcome::Optimal, "case {case}");
            programme.certify(&format!("case {case}, forbidden"));
            for column in 0..columns {
                programme.forbid(column, false);
            }
        }
        assert_eq!(programme.optimise(), Outcome::Optimal, "case {case}");
        programme.certify(&format!("case {case}, freed"));
    }
}

/// Every square programme of this kind is degenerate: n of 2 n values are 0.
#[test]
fn assignments_with_many_ties_come_to_an_end() {
    for (case, kinds) in [1, 2, 3, 10, 1_000_000].into_iter().enumerate() {
        let random = &mut Random::new(311, case as u64);
        let n = 50;
        let mut programme = Recorded::default();
        for _ in 0..2 * n {
            programme.add_row(Relation::Equal, 1.0, &[]);
        }
        let mut diagonal = Vec::new();
        for tail in 0..n {
            for head in 0..n {
                let cost = (1 + random.below(kinds)) as f64 * 1e6;
                let column = programme.add_column(cost, &[(tail, 1.0), (n + head, 1.0)]);
                if tail == head {
                    diagonal.push(column);
                }
            }
        }
        let from_nothing = {
            assert_eq!(programme.optimise(), Outcome::Optimal, "{kinds} costs");
            programme.certify(&format!("{kinds} costs"));
            programme.simplex.objective()
        };
        programme.simplex.start_from(&diagonal);
        assert_eq!(programme.optimise(), Outcome::Optimal, "{kinds} costs");
        programme.certify(&format!("{kinds} costs, from the diagonal"));
        let objective = programme.simplex.objective();
        assert!(
            (objective - from_nothing).abs() < 1e-6 * objective,
            "{kinds} costs"
        );
        for _ in 0..30 {
            let column = random.below(u64::from(n * n)) as u32;
            programme.forbid(column, random.below(4) > 0);
            assert_eq!(programme.optimise(), Outcome::Optimal, "{kinds} costs");
        }
        programme.certify(&format!("{kinds} costs, some forbidden"));
    }
}
