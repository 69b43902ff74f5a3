"""The decoding kernel: the sparsest explanation of samples over a fixed pool (Eq. 3), on checked arrays.

    prices.py     λ, what a selection costs in noise units (Theorem 1)
    subset.py     one sample: best subsets from Gram matrices, compiled
    batch.py      many samples: which of them share a Gram matrix, chunks, threads

Nothing here checks arguments, estimates noise or judges an answer: the public function is `gmcr.decoder.decode`.
"""
