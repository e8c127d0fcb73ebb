import os
import sys
import unittest

sys.path.append(os.getcwd())

from tagging import add_tag


class TaggingTest(unittest.TestCase):
    def test_given_list(self):
        self.assertEqual(add_tag("blue", ["red"]), ["red", "blue"])

    def test_new_list_each_time(self):
        add_tag("red")
        self.assertEqual(add_tag("blue"), ["blue"])
