import os
import sys
import unittest

sys.path.append(os.getcwd())

from intervals import merge


class IntervalsTest(unittest.TestCase):
    def test_apart(self):
        self.assertEqual(merge([(5, 6), (1, 2)]), [(1, 2), (5, 6)])

    def test_empty(self):
        self.assertEqual(merge([]), [])

    def test_inside(self):
        self.assertEqual(merge([(1, 10), (2, 3)]), [(1, 10)])

    def test_overlap(self):
        self.assertEqual(merge([(1, 4), (3, 6)]), [(1, 6)])
