"""What the programs of tests/golden/corpus/today compute, said in NumPy."""

import numpy as np

from corpus_opinions.registry import of
