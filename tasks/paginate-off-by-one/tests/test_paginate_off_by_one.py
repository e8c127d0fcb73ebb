import os
import sys
import unittest

sys.path.append(os.getcwd())

from paging import paginate


class PaginateTest(unittest.TestCase):
    def test_beyond_the_end(self):
        self.assertEqual(paginate([1, 2], 5, 2), [])

    def test_first(self):
        self.assertEqual(paginate([1, 2, 3, 4], 1, 2), [1, 2])

    def test_last(self):
        self.assertEqual(paginate([1, 2, 3, 4, 5], 3, 2), [5])
