"""What the tests of the program share: running it, and saying what was expected.

  python3 tests/cli/NAME.py build/host/gputm
"""

import json
import subprocess
import sys
import unittest

HOST = ["--device", "host"]
SHORT = ["--seconds", "0.02"]


def run(*arguments, timeout=120, env=None):
    """The program's exit status, stdout and stderr."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=timeout, env=env)
    return done.returncode, done.stdout, done.stderr


class Case(unittest.TestCase):
    def succeeds(self, *arguments, **options):
        status, out, err = run(*arguments, **options)
        self.assertEqual(status, 0, f"{arguments}: {out}{err}")
        self.assertEqual(err, "", arguments)
        return out

    def refuses(self, *arguments, says=""):
        """Exit status 2, and one line on stderr that has every word of `says`."""
        status, out, err = run(*arguments)
        self.assertEqual(status, 2, f"{arguments}: status {status}, {out}{err}")
        self.assertTrue(err.startswith("gputm: ") and err.endswith("\n"), f"{arguments}: {err!r}")
        self.assertEqual(err.count("\n"), 1, f"{arguments}: {err!r}")
        for word in says.split():
            self.assertIn(word, err, arguments)
        return out

    def runs(self, *arguments):
        """The array that bench writes to stdout."""
        return json.loads(self.succeeds("bench", *arguments, *HOST, "--json", "-"))


def algorithms():
    return json.loads(run("list", "--json")[1])["algorithms"]


PROGRAM = sys.argv.pop(1)
main = unittest.main
