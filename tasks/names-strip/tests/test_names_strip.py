import os
import sys
import unittest

sys.path.append(os.getcwd())

from names import parse_names


class NamesTest(unittest.TestCase):
    def test_blank_part(self):
        self.assertEqual(parse_names("Ada, ,Grace"), ["Ada", "Grace"])

    def test_inner_space(self):
        self.assertEqual(parse_names("Ada Lovelace"), ["Ada Lovelace"])

    def test_spaces_around(self):
        self.assertEqual(parse_names(" Ada, Grace "), ["Ada", "Grace"])
