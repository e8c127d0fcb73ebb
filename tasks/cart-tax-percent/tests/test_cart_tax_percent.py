import os
import sys
import unittest

sys.path.append(os.getcwd())

from cart import gross, net


class CartTest(unittest.TestCase):
    def test_net(self):
        self.assertEqual(net([300, 700]), 1000)

    def test_north(self):
        self.assertEqual(gross([300, 700], "north"), 1200)

    def test_rounded_down(self):
        self.assertEqual(gross([99], "south"), 103)

    def test_untaxed(self):
        self.assertEqual(gross([500], "sea"), 500)
