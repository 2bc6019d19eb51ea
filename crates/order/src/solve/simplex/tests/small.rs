//! Small programmes against the enumeration of all bases in whole numbers.

use super::super::{Outcome, Relation, Simplex, Stop};
use tapewise_model::Random;

/// A programme in whole numbers, row by row.
#[derive(Clone, Debug, Default)]
struct Programme {
    costs: Vec<i64>,
    forbidden: Vec<bool>,
    rows: Vec<(Relation, i64, Vec<i64>)>,
}

impl Programme {
    /// The optimum, as a fraction: every basis is solved by Cramer's rule. `None`: infeasible.
    fn optimum(&self) -> Option<f64> {
        let (rows, columns) = (self.rows.len(), self.costs.len());
        let mut best: Option<f64> = None;
        for set in 0u32..1 << (rows + columns) {
            if set.count_ones() as usize != rows {
                continue;
            }
            let basis: Vec<usize> = (0..rows + columns).filter(|v| set >> v & 1 == 1).collect();
            let with = |replaced: Option<usize>| -> i128 {
                let cell = |row: usize, at: usize| match (replaced, basis[at]) {
                    (Some(other), _) if other == at => self.rows[row].1,
                    (_, variable) if variable < columns => self.rows[row].2[variable],
                    (_, variable) => -i64::from(variable - columns == row),
                };
                let row = |row| (0..rows).map(move |at| i128::from(cell(row, at))).collect();
                determinant((0..rows).map(row).collect())
            };
            let whole = with(None);
            if whole == 0 {
                continue;
            }
            let mut objective = 0;
            let feasible = (0..rows).all(|at| {
                let value = with(Some(at)) * whole.signum();
                let variable = basis[at];
                let fixed = match variable.checked_sub(columns) {
                    None => self.forbidden[variable],
                    Some(row) => self.rows[row].0 == Relation::Equal,
                };
                objective += value * self.costs.get(variable).map_or(0, |&c| i128::from(c));
                value == 0 || (value > 0 && !fixed)
            });
            if feasible {
                let objective = objective as f64 / whole.abs() as f64;
                best = Some(best.map_or(objective, |best| best.min(objective)));
            }
        }
        best
    }

    fn solve_afresh(&self) -> (Outcome, Simplex) {
        let mut simplex = Simplex::new();
        for &cost in &self.costs {
            simplex.add_column(cost as f64, &[]);
        }
        for (relation, rhs, coefficients) in &self.rows {
            add_row(&mut simplex, *relation, *rhs, coefficients);
        }
        for (column, &forbidden) in self.forbidden.iter().enumerate() {
            simplex.forbid(column as u32, forbidden);
        }
        (simplex.optimise(&Stop::AT_OPTIMUM), simplex)
    }

    /// That the ray shows that the rows contradict each other.
    fn check_ray(&self, simplex: &Simplex, context: &str) {
        let weights: Vec<f64> = (0..self.rows.len() as u32)
            .map(|r| simplex.ray(r))
            .collect();
        let rows = || self.rows.iter().zip(&weights);
        let rhs: f64 = rows().map(|(row, weight)| weight * row.1 as f64).sum();
        assert!(rhs > 1e-9, "{context}: {weights:?} {self:?}");
        for (row, &weight) in rows() {
            assert!(
                row.0 == Relation::Equal || weight > -1e-9,
                "{context}: {weights:?}"
            );
        }
        let allowed = (0..self.costs.len()).filter(|&column| !self.forbidden[column]);
        for column in allowed {
            let sum: f64 = rows()
                .map(|(row, weight)| weight * row.2[column] as f64)
                .sum();
            assert!(
                sum < 1e-6,
                "{context}: column {column}, {weights:?} {self:?}"
            );
        }
    }

    /// That what the simplex method says is the optimum.
    fn check(&self, outcome: Outcome, simplex: &Simplex, context: &str) {
        let objective = simplex.objective();
        match self.optimum() {
            None => {
                assert_eq!(outcome, Outcome::Infeasible, "{context} {self:?}");
                self.check_ray(simplex, context);
            }
            Some(optimum) => {
                assert_eq!(outcome, Outcome::Optimal, "{context} {self:?}");
                assert!(
                    (objective - optimum).abs() < 1e-6 * (1.0 + optimum.abs()),
                    "{context}: {objective} for {optimum}: {self:?}"
                );
            }
        }
    }

    fn push_row(&mut self, random: &mut Random) -> &(Relation, i64, Vec<i64>) {
        let relation = match random.below(2) {
            0 => Relation::Equal,
            _ => Relation::AtLeast,
        };
        let rhs = random.below(5) as i64 - 1;
        let coefficients = self.costs.iter().map(|_| coefficient(random)).collect();
        self.rows.push((relation, rhs, coefficients));
        &self.rows[self.rows.len() - 1]
    }

    /// Costs may be negative where a row keeps the sum of all columns within bounds.
    fn push_column(&mut self, negative: bool, random: &mut Random) -> Vec<i64> {
        let cost = random.below(4) as i64 - if negative { 2 } else { 0 };
        self.costs.push(cost);
        self.forbidden.push(false);
        let mut terms = Vec::new();
        for (at, (_, _, coefficients)) in self.rows.iter_mut().enumerate() {
            let value = match (negative, at) {
                (true, 0) => -1,
                _ => coefficient(random),
            };
            coefficients.push(value);
            terms.push(value);
        }
        terms
    }
}

/// Mostly 0 or 1, as in rows of arcs, so that much is degenerate.
fn coefficient(random: &mut Random) -> i64 {
    match random.below(8) {
        0..=2 => 1,
        3 => -1,
        4 => 2,
        _ => 0,
    }
}

fn add_row(simplex: &mut Simplex, relation: Relation, rhs: i64, coefficients: &[i64]) {
    let terms: Vec<(u32, f64)> = terms(coefficients);
    simplex.add_row(relation, rhs as f64, &terms);
}

fn terms(coefficients: &[i64]) -> Vec<(u32, f64)> {
    let terms = coefficients.iter().enumerate();
    let present = terms.filter(|&(_, &value)| value != 0);
    present
        .map(|(at, &value)| (at as u32, value as f64))
        .collect()
}

/// Fraction-free elimination (Bareiss 1968).
fn determinant(mut matrix: Vec<Vec<i128>>) -> i128 {
    let size = matrix.len();
    let (mut sign, mut before) = (1, 1);
    for at in 0..size {
        let Some(pivot) = (at..size).find(|&row| matrix[row][at] != 0) else {
            return 0;
        };
        if pivot != at {
            matrix.swap(pivot, at);
            sign = -sign;
        }
        for row in at + 1..size {
            for column in at + 1..size {
                let product = matrix[row][column] * matrix[at][at];
                matrix[row][column] = (product - matrix[row][at] * matrix[at][column]) / before;
            }
        }
        before = matrix[at][at];
    }
    sign * before
}

#[test]
fn determinants_are_right() {
    assert_eq!(determinant(vec![]), 1);
    assert_eq!(determinant(vec![vec![0, 2], vec![3, 4]]), -6);
    let three = vec![vec![2, 0, 1], vec![1, 3, 2], vec![1, 1, 4]];
    assert_eq!(determinant(three), 18);
}

#[test]
fn it_finds_the_optimum_of_every_small_programme() {
    let mut infeasible = 0;
    for case in 0..6_000 {
        let random = &mut Random::new(300, case);
        let mut programme = Programme::default();
        for _ in 0..1 + random.below(5) {
            programme.push_column(false, random);
        }
        for _ in 0..1 + random.below(4) {
            programme.push_row(random);
        }
        for forbidden in &mut programme.forbidden {
            *forbidden = random.below(6) == 0;
        }
        let (outcome, simplex) = programme.solve_afresh();
        infeasible += u32::from(outcome == Outcome::Infeasible);
        programme.check(outcome, &simplex, &format!("case {case}"));
    }
    assert!((500..5_000).contains(&infeasible), "{infeasible}");
}

#[test]
fn rows_and_columns_in_any_sequence_give_what_solving_afresh_gives() {
    for case in 0..1_500 {
        let random = &mut Random::new(301, case);
        let negative = case % 2 == 0;
        let mut programme = Programme::default();
        let mut simplex = Simplex::new();
        if negative {
            programme.rows.push((Relation::AtLeast, -9, vec![]));
            simplex.add_row(Relation::AtLeast, -9.0, &[]);
        }
        let mut saved = None;
        for step in 0..14 {
            match random.below(8) {
                0 | 1 if programme.costs.len() < 6 => {
                    let column = programme.push_column(negative, random);
                    simplex.add_column(
                        programme.costs[programme.costs.len() - 1] as f64,
                        &terms(&column),
                    );
                }
                2 | 3 if programme.rows.len() < 5 => {
                    let (relation, rhs, coefficients) = programme.push_row(random);
                    add_row(&mut simplex, *relation, *rhs, coefficients);
                }
                4 if !programme.costs.is_empty() => {
                    let column = random.below(programme.costs.len() as u64) as usize;
                    programme.forbidden[column] ^= true;
                    simplex.forbid(column as u32, programme.forbidden[column]);
                }
                5 => saved = Some(simplex.basis()),
                6 => {
                    if let Some(basis) = &saved {
                        simplex.restore(basis);
                    }
                }
                _ => {
                    let outcome = simplex.optimise(&Stop::AT_OPTIMUM);
                    let context = format!("case {case}, step {step}");
                    programme.check(outcome, &simplex, &context);
                }
            }
        }
    }
}

#[test]
fn an_objective_without_end_is_noticed() {
    let mut simplex = Simplex::new();
    let x = simplex.add_column(-1.0, &[]);
    let y = simplex.add_column(1.0, &[]);
    simplex.add_row(Relation::AtLeast, -2.0, &[(x, -1.0), (y, 1.0)]);
    assert_eq!(simplex.optimise(&Stop::AT_OPTIMUM), Outcome::Optimal);
    assert_eq!(simplex.objective(), -2.0);
    simplex.add_column(-0.5, &[(0, 1.0)]);
    assert_eq!(simplex.optimise(&Stop::AT_OPTIMUM), Outcome::Unbounded);
}

#[test]
fn it_stops_where_it_is_told_to() {
    let mut simplex = Simplex::new();
    let columns: Vec<u32> = (0..10).map(|_| simplex.add_column(1.0, &[])).collect();
    for &column in &columns {
        simplex.add_row(Relation::AtLeast, 1.0, &[(column, 1.0)]);
    }
    let stop = |max_pivots, cutoff| Stop { max_pivots, cutoff };
    assert_eq!(
        simplex.optimise(&stop(4, f64::INFINITY)),
        Outcome::PivotLimit
    );
    assert_eq!(simplex.pivots(), 4);
    assert_eq!(simplex.optimise(&stop(100, 6.5)), Outcome::Cutoff);
    assert_eq!(simplex.objective(), 7.0);
    assert_eq!(simplex.optimise(&stop(100, 10.5)), Outcome::Optimal);
    assert_eq!(simplex.objective(), 10.0);
}
