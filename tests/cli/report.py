"""Tables from JSON."""

import os
import tempfile

import program
from program import HOST


class Report(program.Case):
    def test_medians(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "runs.json")
            self.succeeds("bench", "bank", *HOST, "--algorithm", "pr_stm,locks", "--accounts", "100,200", "--repeat", "3",
                          "--transactions", "500", "--json", path)
            target = os.path.join(folder, "new", "folder")
            self.succeeds("report", path, "-o", target)
            with open(os.path.join(target, "report.md"), encoding="utf-8") as file:
                text = file.read()
            rows = [line for line in text.split("\n") if line.startswith("| pr_stm") or line.startswith("| locks")]
            self.assertEqual(len(rows), 4, text)
            self.assertTrue(all("| 3 | ok |" in row for row in rows), text)
            self.assertIn("accounts", text)
            self.assertIn("bank on host", text)


if __name__ == "__main__":
    program.main()
