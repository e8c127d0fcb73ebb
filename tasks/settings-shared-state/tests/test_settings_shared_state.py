import os
import sys
import unittest

sys.path.append(os.getcwd())

import defaults
from settings import load


class SettingsTest(unittest.TestCase):
    def test_defaults_stay(self):
        before = dict(defaults.DEFAULTS)
        load({"size": 99})
        self.assertEqual(defaults.DEFAULTS, before)

    def test_overrides_win(self):
        self.assertEqual(load({"theme": "dark"})["theme"], "dark")

    def test_results_are_separate(self):
        load({"wrap": False})
        self.assertIs(load({})["wrap"], True)
