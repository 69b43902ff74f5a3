"""Samples that are larger than memory: the same functions on blocks of them, run by Dask.

    arrays.py     lazy samples, checked without loading any
    decoding.py   `Decoding` of lazy samples: dask arrays in, dask arrays out, block by block
    reductions.py passes over lazy samples: what blocks tell, added up
    reading.py    lazy samples of a file
    stores.py     what is in files of zarr, HDF5, NPY and Parquet, and parts of it when they are asked for
    cubes.py      a cube of any size whose truth is known
    running.py    on what passes run: threads of this process, or a cluster
    writing.py    what all samples hold, as zarr
    progress.py   a bar for a pass

Here lives what knows of dask, and what a block's answer takes from the others. What is done to the samples of a
block is done by the same functions as in memory, which stand below; none of it is written twice. Nothing here may
schedule or spill by itself: that is dask's. The modules import dask, so whoever is above imports them when a lazy
array has come, and not before: the core does without.
"""
