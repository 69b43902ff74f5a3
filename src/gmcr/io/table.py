"""What every reader of data files returns."""

from __future__ import annotations

from dataclasses import dataclass

from gmcr.validation import FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Samples read from a file.

    Attributes
    ----------
    samples : (samples, channels), NaN where an entry is missing
    axis : (channels,) position of each channel, such as wavelengths, where the file tells
    sample_names : one per sample, where the file tells
    notes : what the reader had to infer, a sentence each
    """

    samples: FloatArray
    axis: FloatArray | None = None
    sample_names: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Table: {self.samples.shape[0]} samples x {self.samples.shape[1]} channels>"
