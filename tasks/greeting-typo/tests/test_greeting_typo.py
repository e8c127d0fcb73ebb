import os
import sys
import unittest

sys.path.append(os.getcwd())

from greeting import greet


class GreetingTypoTest(unittest.TestCase):
    def test_ann(self):
        self.assertEqual(greet("Ann"), "Hello, Ann!")

    def test_empty(self):
        self.assertEqual(greet(""), "Hello, !")
