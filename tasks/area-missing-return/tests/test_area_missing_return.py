import os
import sys
import unittest

sys.path.append(os.getcwd())

from shapes import rectangle_area, square_area


class ShapesTest(unittest.TestCase):
    def test_rectangle(self):
        self.assertEqual(rectangle_area(2, 3), 6)

    def test_square(self):
        self.assertEqual(square_area(4), 16)
