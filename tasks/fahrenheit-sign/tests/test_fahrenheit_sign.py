import os
import sys
import unittest

sys.path.append(os.getcwd())

from temperature import to_celsius


class TemperatureTest(unittest.TestCase):
    def test_boiling(self):
        self.assertAlmostEqual(to_celsius(212), 100)

    def test_freezing(self):
        self.assertAlmostEqual(to_celsius(32), 0)

    def test_number(self):
        self.assertIsInstance(to_celsius(50), float)
