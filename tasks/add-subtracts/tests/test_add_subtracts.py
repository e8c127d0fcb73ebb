import os
import sys
import unittest

sys.path.append(os.getcwd())

from sums import add


class AddSubtractsTest(unittest.TestCase):
    def test_positive(self):
        self.assertEqual(add(2, 3), 5)

    def test_zero(self):
        self.assertEqual(add(4, 0), 4)
