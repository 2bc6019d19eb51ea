use tapewise_sim::statistics::student_t_quantile;

use crate::assert_close;

/// Degrees of freedom, and the quantiles at 0.9, 0.975, 0.995 and 0.9995: the usual table, with the
/// digits of scipy 1.17.
const TABLE: [(u64, [f64; 4]); 13] = [
    (
        1,
        [
            3.077683537175254,
            12.706204736174694,
            63.656741162871526,
            636.6192487687897,
        ],
    ),
    (
        2,
        [
            1.8856180831641272,
            4.302652729749462,
            9.924843200918287,
            31.599054576445365,
        ],
    ),
    (
        3,
        [
            1.637744353696209,
            3.1824463052837078,
            5.840909309733355,
            12.923978636687961,
        ],
    ),
    (
        4,
        [
            1.533206274058944,
            2.7764451051977934,
            4.604094871349992,
            8.610301581379522,
        ],
    ),
    (
        9,
        [
            1.3830287383966329,
            2.262157162798205,
            3.249835541592126,
            4.780912585931217,
        ],
    ),
    (
        10,
        [
            1.372183641110336,
            2.228138851986274,
            3.16927267261695,
            4.586893858702708,
        ],
    ),
    (
        19,
        [
            1.3277282090267986,
            2.0930240544083087,
            2.8609346064649794,
            3.883405852592131,
        ],
    ),
    (
        29,
        [
            1.311433647301551,
            2.045229642132703,
            2.756385903670605,
            3.6594050194663748,
        ],
    ),
    (
        30,
        [
            1.3104150253913955,
            2.0422724563012378,
            2.7499956535672254,
            3.6459586350420627,
        ],
    ),
    (
        99,
        [
            1.2901614420344854,
            1.9842169515864174,
            2.626405457280827,
            3.391528833363685,
        ],
    ),
    (
        100,
        [
            1.290074761346516,
            1.9839715185235518,
            2.6258905214380173,
            3.390491311164263,
        ],
    ),
    (
        1000,
        [
            1.2823987214609247,
            1.9623390808264083,
            2.580754698065951,
            3.300282648423944,
        ],
    ),
    (
        100000,
        [
            1.2815600314493614,
            1.9599877075346095,
            2.575878469908375,
            3.2906240314119137,
        ],
    ),
];

#[test]
fn quantiles_are_those_of_the_table() {
    for (degrees, quantiles) in TABLE {
        for (p, expected) in [0.9, 0.975, 0.995, 0.9995].into_iter().zip(quantiles) {
            assert_close(student_t_quantile(p, degrees).unwrap(), expected, 1e-8);
            assert_close(
                student_t_quantile(1.0 - p, degrees).unwrap(),
                -expected,
                1e-8,
            );
        }
    }
}

#[test]
fn the_sum_and_the_expansion_meet() {
    for p in [0.6, 0.975, 0.9995] {
        let sum = student_t_quantile(p, 1_000).unwrap();
        let expansion = student_t_quantile(p, 1_001).unwrap();
        assert!(sum > expansion);
        assert_close(expansion, sum, 1e-5);
    }
}

#[test]
fn no_degrees_and_certain_probabilities_are_refused() {
    assert!(student_t_quantile(0.9, 0).is_err());
    assert!(student_t_quantile(1.0, 5).is_err());
    assert!(student_t_quantile(f64::NAN, 5).is_err());
}
