import os
import sys
import unittest

sys.path.append(os.getcwd())

from tickets import is_adult


class TicketsTest(unittest.TestCase):
    def test_child(self):
        self.assertFalse(is_adult(17))

    def test_exactly_eighteen(self):
        self.assertTrue(is_adult(18))

    def test_grown_up(self):
        self.assertTrue(is_adult(40))
