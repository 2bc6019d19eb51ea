//! Tables for other programs: the Arrow C stream, which pandas, polars, pyarrow and DuckDB read.

use crate::arguments::input_error;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, NullArray, RecordBatch, RecordBatchIterator,
    StringArray,
};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use std::sync::Arc;

/// What the Arrow PyCapsule interface calls such a capsule.
const NAME: &std::ffi::CStr = c"arrow_array_stream";

/// Columns of whole numbers, fractions, truths or texts, some of them None, as an Arrow stream of one batch.
#[pyfunction]
pub fn arrow_stream<'py>(
    py: Python<'py>,
    columns: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let mut arrays = Vec::with_capacity(columns.len());
    for (name, values) in columns {
        let name: String = name.extract()?;
        let array = array(&values).ok_or_else(|| {
            input_error(format!(
                "column {name} has values of several kinds, which Arrow has no type for"
            ))
        })?;
        arrays.push((name, array, true));
    }
    let batch = RecordBatch::try_from_iter_with_nullable(arrays).map_err(input_error)?;
    let schema = batch.schema();
    let batches = RecordBatchIterator::new([Ok(batch)], schema);
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), NAME)
}

/// The narrowest type that holds all values. Truths first: Python takes them for whole numbers as well.
fn array(values: &Bound<'_, PyAny>) -> Option<ArrayRef> {
    let held: Vec<Option<Bound<'_, PyAny>>> = values.extract().ok()?;
    if held.iter().all(Option::is_none) {
        return Some(Arc::new(NullArray::new(held.len())));
    }
    if let Ok(truths) = values.extract::<Vec<Option<bool>>>() {
        return Some(Arc::new(BooleanArray::from(truths)));
    }
    if let Ok(numbers) = values.extract::<Vec<Option<i64>>>() {
        return Some(Arc::new(Int64Array::from(numbers)));
    }
    if let Ok(numbers) = values.extract::<Vec<Option<f64>>>() {
        return Some(Arc::new(Float64Array::from(numbers)));
    }
    let texts = values.extract::<Vec<Option<String>>>().ok()?;
    Some(Arc::new(StringArray::from(texts)))
}
