# Writes the fixtures of file_formats_test.cpp with NumPy, beside this file.
import os
import zipfile

import numpy as np

os.chdir(os.path.dirname(os.path.abspath(__file__)))

np.savez_compressed("deflated.npz", w0=np.arange(6, dtype="float32").reshape(2, 3) / 4,
                    labels=np.array([3, -1, 2], dtype="int64"), flag=np.array(True))
np.savez("stored.npz", half=np.array([1.5, -2.0], dtype="float16"), empty=np.zeros((0, 4), dtype="uint8"))
np.save("fortran.npy", np.asfortranarray(np.arange(24, dtype="int16").reshape(2, 3, 4)))
np.save("big_endian.npy", np.array([1.5, -2.25, 1e300], dtype=">f8"))
np.save("objects.npy", np.array([None, {}], dtype=object), allow_pickle=True)
with zipfile.ZipFile("bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
    entry = zipfile.ZipInfo("zeros.npy")  # without the time of day
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, b"\x93NUMPY\x01\x00v\x00" +
                     b"{'descr': '|u1', 'fortran_order': False, 'shape': (1000000,), }".ljust(117) + b"\n" +
                     bytes(1000000))
