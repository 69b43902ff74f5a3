"""How alike spectra are: cosine, correlation and hit quality index, on the spectrum and on its derivative.

The hit quality index (HQI) is that of correlation searches: 100 r², with r the correlation over the channels that
both spectra have, and zero where r is negative. A constant added to either spectrum, such as an offset from noise
that does not average to zero, changes nothing; on the derivative, neither does a slope.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import correlate1d
from scipy.signal import savgol_coeffs
from scipy.special import ndtri

from gmcr.validation import FloatArray

WINDOW = 9  # channels of the Savitzky-Golay derivative, by a parabola
SHARED = 0.5  # share of a profile's channels that a spectrum must have to be compared with it


def cosines(A: FloatArray, B: FloatArray) -> FloatArray:
    """Cosine of every row of A with every row of B over the channels that both have: (len(A), len(B)).

    A : (a, channels), B : (b, channels); NaN where missing. NaN where two rows share too few channels.
    """
    has_a, has_b, A, B = *_present(A, B), np.nan_to_num(A), np.nan_to_num(B)
    norms = np.sqrt((A**2 @ has_b.T) * (has_a @ (B**2).T))
    return _ratio(A @ B.T, norms, has_a, has_b)


def correlations(A: FloatArray, B: FloatArray) -> FloatArray:
    """Correlation of every row of A with every row of B, as `cosines`; centred over the shared channels."""
    has_a, has_b = _present(A, B)
    # Near zero before the sums are taken, so that little is lost in their differences.
    A, B = centred(A), centred(B)
    shared = np.maximum(has_a @ has_b.T, 1.0)
    sum_a, sum_b = A @ has_b.T, has_a @ B.T
    power_a = np.maximum((A**2) @ has_b.T - sum_a**2 / shared, 0.0)
    power_b = np.maximum(has_a @ (B**2).T - sum_b**2 / shared, 0.0)
    return _ratio(A @ B.T - sum_a * sum_b / shared, np.sqrt(power_a * power_b), has_a, has_b)


def hqi(correlation: FloatArray) -> FloatArray:
    """Hit quality index, 100 r², of correlations."""
    return 100.0 * np.maximum(correlation, 0.0) ** 2


def derivative(spectra: FloatArray) -> FloatArray:
    """First derivative by channel (Savitzky-Golay), NaN at the ends: the shape of `spectra`."""
    return np.asarray(correlate1d(spectra, _coefficients(), axis=1, mode="constant", cval=np.nan))


def derivative_noise(errors: FloatArray) -> FloatArray:
    """Standard errors of the derivative of spectra with these standard errors, independent by channel."""
    return errors * float(np.linalg.norm(_coefficients()))


def reachable(spectra: FloatArray, errors: FloatArray) -> FloatArray:
    """The correlation that noise leaves a spectrum with itself measured without noise: (spectra,).

    errors : (spectra,) or (spectra, channels) standard errors of the entries
    """
    variance = np.nanvar(spectra, axis=1)
    noise = np.square(errors) if errors.ndim == 1 else np.nanmean(np.square(errors), axis=1)
    return np.sqrt(np.clip(1.0 - noise / np.maximum(variance, 1e-300), 0.0, 1.0))


def chance_level(spectra: FloatArray, library: FloatArray, alpha: float) -> FloatArray:
    """The correlation that the best of a library unrelated to a spectrum stays below, to 1 − α: (spectra,).

    Neighbouring channels repeat each other: the correlation of unrelated spectra with autocorrelations ρ and ρ'
    has the variance Σ_k ρ_k ρ'_k / d over d channels (Bartlett), and is normal under Fisher's transformation. For
    ρ' stands the mean over the library.
    """
    usual = _autocorrelations(library).mean(axis=0)
    counted = spectra.shape[1] / np.maximum(_autocorrelations(spectra) @ usual, 1.0)
    return np.asarray(np.tanh(ndtri(1.0 - alpha / len(library)) / np.sqrt(np.maximum(counted - 3.0, 1.0))))


def _autocorrelations(spectra: FloatArray) -> FloatArray:
    """Autocorrelation of each spectrum at every lag, either way: (spectra, 2 channels)."""
    power = np.abs(np.fft.rfft(centred(spectra), 2 * spectra.shape[1], axis=1)) ** 2
    rho = np.fft.irfft(power, axis=1)
    return np.asarray(rho / np.maximum(rho[:, :1], 1e-300))


def centred(rows: FloatArray) -> FloatArray:
    """Rows less their means, zero where missing."""
    present = ~np.isnan(rows)
    filled = np.where(present, rows, 0.0)
    means = filled.sum(axis=1, keepdims=True) / np.maximum(present.sum(axis=1, keepdims=True), 1)
    return np.where(present, filled - means, 0.0)


def _coefficients() -> FloatArray:
    return np.asarray(savgol_coeffs(WINDOW, 2, deriv=1, use="dot"))


def _present(A: FloatArray, B: FloatArray) -> tuple[FloatArray, FloatArray]:
    return (~np.isnan(A)).astype(float), (~np.isnan(B)).astype(float)


def _ratio(product: FloatArray, norms: FloatArray, has_a: FloatArray, has_b: FloatArray) -> FloatArray:
    enough = has_a @ has_b.T >= SHARED * has_a.sum(axis=1, keepdims=True)
    scale = norms > 1e-150
    return np.where(enough & scale, np.clip(product / np.where(scale, norms, 1.0), -1.0, 1.0), np.nan)
