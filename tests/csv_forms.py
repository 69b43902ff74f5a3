"""Tables as instruments export them; for the tests and for benchmarks/exports.py."""


def exported(D, axis, names, *, columns, comma, has_names, has_axis):
    """A table as CSV: samples in rows or columns, decimal commas or points, with or without names and axis."""
    rows = [[repr(float(value)) for value in row] for row in D]
    if has_names:
        rows = [[name, *row] for name, row in zip(names, rows)]
    if has_axis:
        corner = ["wavelength" if columns else "sample"] if has_names else []
        rows = [[*corner, *(repr(float(value)) for value in axis)], *rows]
    if columns:
        rows = list(zip(*rows))
    text = "\n".join((";" if comma else ",").join(row) for row in rows)
    return text.replace(".", ",") if comma else text
