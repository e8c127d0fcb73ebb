import os
import sys
import unittest

sys.path.append(os.getcwd())

from items import last


class LastItemTest(unittest.TestCase):
    def test_three(self):
        self.assertEqual(last([1, 2, 3]), 3)

    def test_one(self):
        self.assertEqual(last([5]), 5)
