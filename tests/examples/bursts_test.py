"""usage: bursts_test.py PROGRAM"""
import os
import re
import subprocess
import sys
import unittest

BURSTS = os.path.abspath(sys.argv.pop())
LEAST_ACCURACY = 0.94  # one of three places is right by chance for a third


class Bursts(unittest.TestCase):
    def test_finds_the_bursts(self):
        done = subprocess.run([BURSTS], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        rows = re.findall(r"^(discrete|continuous, alpha [\d/]+) +([\d.]+) +([\d.]+)$", done.stdout, re.MULTILINE)
        self.assertEqual([name for name, _, _ in rows],
                         ["discrete"] + [f"continuous, alpha {alpha}" for alpha in ["1", "4/3", "3/2", "2"]])
        for name, sharpness, accuracy in rows:
            self.assertGreater(float(accuracy), LEAST_ACCURACY, name)
            self.assertNotEqual(float(sharpness), 0, name)


if __name__ == "__main__":
    unittest.main()
