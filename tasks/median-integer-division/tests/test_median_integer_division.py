import os
import sys
import unittest

sys.path.append(os.getcwd())

from median import median


class MedianTest(unittest.TestCase):
    def test_even_length(self):
        self.assertEqual(median([1, 2]), 1.5)

    def test_even_length_unsorted(self):
        self.assertEqual(median([9, 1, 4, 2]), 3)

    def test_odd_length(self):
        self.assertEqual(median([5, 1, 3]), 3)
