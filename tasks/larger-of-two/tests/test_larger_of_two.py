import os
import sys
import unittest

sys.path.append(os.getcwd())

from larger import larger


class LargerOfTwoTest(unittest.TestCase):
    def test_second(self):
        self.assertEqual(larger(3, 8), 8)

    def test_first(self):
        self.assertEqual(larger(9, 2), 9)

    def test_equal(self):
        self.assertEqual(larger(4, 4), 4)
