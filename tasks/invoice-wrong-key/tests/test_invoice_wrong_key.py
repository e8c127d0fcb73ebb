import os
import sys
import unittest

sys.path.append(os.getcwd())

from invoice import total


class InvoiceTest(unittest.TestCase):
    def test_nothing(self):
        self.assertEqual(total([]), 0)

    def test_one_of_each(self):
        self.assertEqual(total([{"name": "pen", "price": 2, "quantity": 1}]), 2)

    def test_several(self):
        self.assertEqual(total([{"name": "pen", "price": 2, "quantity": 3}]), 6)
