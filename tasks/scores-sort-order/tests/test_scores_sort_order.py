import os
import sys
import unittest

sys.path.append(os.getcwd())

from scores import best


class ScoresTest(unittest.TestCase):
    def test_all(self):
        self.assertEqual(best({"ann": 10, "bob": 30}, 5), ["bob", "ann"])

    def test_nobody(self):
        self.assertEqual(best({}, 3), [])

    def test_top_two(self):
        self.assertEqual(best({"ann": 10, "bob": 30, "cid": 20}, 2), ["bob", "cid"])
