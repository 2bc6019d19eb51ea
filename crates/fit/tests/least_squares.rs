//! Least squares against a published example and closed forms.

use tapewise_fit::least_squares;

/// The example of R's `lm` help page (Annette Dobson, An Introduction to Generalized Linear Models,
/// 1990, page 9): plant weights of a control and a treatment group.
#[test]
fn the_table_of_the_plant_weights_is_that_of_r() {
    let control = [4.17, 5.58, 5.18, 6.11, 4.50, 4.61, 5.17, 4.53, 5.33, 5.14];
    let treated = [4.81, 4.17, 4.41, 3.59, 5.87, 3.83, 6.03, 4.89, 4.32, 4.69];
    let rows: Vec<[f64; 2]> = (0..20)
        .map(|at| [1.0, f64::from(u8::from(at >= 10))])
        .collect();
    let weights = [control, treated].concat();
    let table = least_squares(&["(Intercept)", "groupTrt"], &rows, &weights).unwrap();
    let near = |found: f64, printed: f64, digit: f64| {
        assert!(
            (found - printed).abs() <= digit / 2.0,
            "{found} is not {printed}"
        );
    };
    near(table.estimate(0), 5.0320, 1e-4);
    near(table.estimate(1), -0.3710, 1e-4);
    near(table.terms[0].std_error, 0.2202, 1e-4);
    near(table.terms[1].std_error, 0.3114, 1e-4);
    near(table.terms[0].t, 22.850, 1e-3);
    near(table.terms[1].t, -1.191, 1e-3);
    near(table.terms[0].p * 1e15, 9.55, 1e-2);
    near(table.terms[1].p, 0.249, 1e-3);
    near(table.residual, 0.6964, 1e-4);
    assert_eq!((table.degrees, table.f.1), (18, 1));
    near(table.r_squared, 0.073_08, 1e-5);
    near(table.adjusted_r_squared, 0.021_58, 1e-5);
    near(table.f.0, 1.419, 1e-3);
    near(table.f_p, 0.249, 1e-3);
}

#[test]
fn a_column_that_is_a_sum_of_others_is_left_out() {
    let rows: Vec<[f64; 3]> = (0..9)
        .map(|at| [1.0, f64::from(at), f64::from(at) + 1.0])
        .collect();
    let times: Vec<f64> = (0..9)
        .map(|at| 3.0 + 2.0 * f64::from(at) + f64::from(at % 2))
        .collect();
    let table = least_squares(&["a", "b", "a+b"], &rows, &times).unwrap();
    assert!(table.terms[2].estimate.is_none() && table.terms[1].estimate.is_some());
    assert_eq!(table.degrees, 7);
}
