"""Unmixing spectra: how many components, their profiles, and which sample holds which."""
