import os
import sys
import unittest

sys.path.append(os.getcwd())

from texts import reverse


class ReverseTextTest(unittest.TestCase):
    def test_word(self):
        self.assertEqual(reverse("abc"), "cba")

    def test_palindrome(self):
        self.assertEqual(reverse("anna"), "anna")
