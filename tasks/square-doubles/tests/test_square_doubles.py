import os
import sys
import unittest

sys.path.append(os.getcwd())

from power import square


class SquareDoublesTest(unittest.TestCase):
    def test_three(self):
        self.assertEqual(square(3), 9)

    def test_two(self):
        self.assertEqual(square(2), 4)
