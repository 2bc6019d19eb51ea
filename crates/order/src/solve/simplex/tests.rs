//! The simplex method against naive solvers, and on the programmes it is made for.

mod inverse;
mod large;
mod small;
mod time;
mod tours;

use super::{Outcome, Relation, Simplex, Stop};

/// A simplex with its own record of the programme, to certify results without trusting it.
#[derive(Default)]
struct Recorded {
    simplex: Simplex,
    rows: Vec<(Relation, f64)>,
    columns: Vec<(f64, Vec<(u32, f64)>)>,
    forbidden: Vec<bool>,
}

impl Recorded {
    fn add_row(&mut self, relation: Relation, rhs: f64, terms: &[(u32, f64)]) -> u32 {
        let row = self.simplex.add_row(relation, rhs, terms);
        self.rows.push((relation, rhs));
        for &(column, value) in terms {
            self.columns[column as usize].1.push((row, value));
        }
        row
    }

    fn add_column(&mut self, cost: f64, terms: &[(u32, f64)]) -> u32 {
        self.columns.push((cost, terms.to_vec()));
        self.forbidden.push(false);
        self.simplex.add_column(cost, terms)
    }

    fn forbid(&mut self, column: u32, forbidden: bool) {
        self.forbidden[column as usize] = forbidden;
        self.simplex.forbid(column, forbidden);
    }

    fn optimise(&mut self) -> Outcome {
        self.simplex.optimise(&Stop::AT_OPTIMUM)
    }

    /// That values and duals are feasible and their objectives are equal, which proves both.
    fn certify(&self, context: &str) {
        let simplex = &self.simplex;
        let mut left: Vec<f64> = vec![0.0; self.rows.len()];
        let (mut primal, mut dual) = (0.0, 0.0);
        let mean = self.columns.iter().map(|c| c.0.abs()).sum::<f64>() / self.columns.len() as f64;
        for (column, (cost, terms)) in self.columns.iter().enumerate() {
            let value = simplex.value(column as u32);
            let forbidden = self.forbidden[column];
            assert!(
                value > -1e-7 && !(forbidden && value > 1e-7),
                "{context}: x = {value}"
            );
            primal += cost * value;
            let mut reduced = *cost;
            for &(row, factor) in terms {
                left[row as usize] += factor * value;
                reduced -= factor * simplex.dual(row);
            }
            assert!(
                forbidden || reduced > -1e-6 * mean,
                "{context}: reduced cost {reduced}"
            );
            let stated = simplex.reduced_cost(column as u32);
            assert!(
                (reduced - stated).abs() < 1e-6 * mean,
                "{context}: {stated} for {reduced}"
            );
        }
        for (row, (&(relation, rhs), left)) in self.rows.iter().zip(&left).enumerate() {
            let (slack, price) = (left - rhs, simplex.dual(row as u32));
            assert!(slack > -1e-6, "{context}: row {row} lacks {slack}");
            match relation {
                Relation::Equal => assert!(slack < 1e-6, "{context}: row {row} has {slack} over"),
                Relation::AtLeast => assert!(price > -1e-6 * mean, "{context}: price {price}"),
            }
            assert!(
                (simplex.slack(row as u32) - slack).abs() < 1e-6,
                "{context}: row {row}"
            );
            dual += rhs * price;
        }
        let scale = 1e-7 * (primal.abs() + mean);
        assert!(
            (primal - dual).abs() < scale,
            "{context}: {primal} above {dual}"
        );
        assert!(
            (primal - simplex.objective()).abs() < scale,
            "{context}: {primal}"
        );
    }
}
