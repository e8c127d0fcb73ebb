import os
import sys
import unittest

sys.path.append(os.getcwd())

from numbers_kind import is_even


class EvenSaysOddTest(unittest.TestCase):
    def test_even(self):
        self.assertEqual(is_even(4), True)

    def test_odd(self):
        self.assertEqual(is_even(7), False)
