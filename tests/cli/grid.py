"""Lists of values, repetitions, and the table."""

import json
import os
import re
import tempfile

import program
from program import HOST, SHORT


class Grid(program.Case):
    def test_every_combination_is_run(self):
        runs = self.runs("bank", "--algorithm", "pr_stm,locks", "--accounts", "10,20,30", "--rot", "0,50", "--threads",
                         "4,8", "--blocks", "2", "--transactions", "200")
        seen = [(r["algorithm"], r["parameters"]["accounts"], r["parameters"]["rot"], r["parameters"]["threads"])
                for r in runs]
        self.assertEqual(len(seen), 24)
        self.assertEqual(len(set(seen)), 24)
        self.assertEqual([s[0] for s in seen[:2]], ["pr_stm", "locks"])  # side by side, to be compared

    def test_repetitions(self):
        runs = self.runs("bank", "--algorithm", "pr_stm", "--accounts", "10,20", "--transactions", "200", "--repeat", "3")
        self.assertEqual([r["parameters"]["accounts"] for r in runs], [10, 10, 10, 20, 20, 20])

    def test_seeds_are_an_axis(self):
        runs = self.runs("bank", "--algorithm", "pr_stm", "--seed", "1,2,3", "--transactions", "200")
        self.assertEqual([r["parameters"]["seed"] for r in runs], [1, 2, 3])

    def test_auto(self):
        runs = self.runs("bank", "--algorithm", "pr_stm", "--blocks", "auto,3", "--threads", "auto", *SHORT)
        self.assertEqual(runs[1]["parameters"]["blocks"], 3)
        self.assertGreaterEqual(runs[0]["parameters"]["blocks"], 1)

    def test_the_table(self):
        out = self.succeeds("bench", "bank", *HOST, "--algorithm", "pr_stm,unsafe", "--rot", "0,10", "--accounts", "50",
                            *SHORT, "--repeat", "3")
        lines = out.strip().split("\n")
        self.assertEqual(len(lines), 7, out)  # what runs, an empty line, the heading, four rows
        self.assertIn("accounts 50", lines[0])
        for word in ["rot", "algorithm", "blocks x threads", "commits/s (M)", "aborts/commit", "read-only", "invariant"]:
            self.assertIn(word, lines[2])
        for row in lines[3:]:
            self.assertIn("..", row)  # the range of the repetitions
        self.assertTrue(all("nothing isolates it" in row for row in lines[3:] if "unsafe" in row))

    def test_a_row_begins_with_the_median(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "runs.json")
            out = self.succeeds("bench", "loop", *HOST, "--algorithm", "doall", "--iterations", "2000", "--repeat", "5",
                                "--json", path)
            with open(path, encoding="utf-8") as file:
                ms = sorted(run["seconds"] * 1e3 for run in json.load(file))
        median, range_of = re.search(r"(\S+) \((\S+)\)", out.strip().split("\n")[-1]).groups()
        low, high = range_of.split("..")
        for shown, measured in [(median, ms[2]), (low, ms[0]), (high, ms[4])]:
            self.assertAlmostEqual(float(shown), measured, delta=0.01 * measured)

    def test_what_cannot_run_is_named(self):
        out = self.succeeds("bench", "producer_consumer", *HOST, "--algorithm", "pr_stm,sequential", "--values", "20")
        self.assertIn("n/a", [line for line in out.split("\n") if "sequential" in line][0])

    def test_what_is_refused_stops_nothing_else(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "runs.json")
            status, out, err = program.run("bench", "bank", *HOST, "--algorithm", "pr_stm", "--transactions", "200",
                                           "--blocks", "1,100000,2", "--threads", "8", "--json", path)
            with open(path, encoding="utf-8") as file:
                runs = json.load(file)
        self.assertEqual(status, 2)
        rows = out.strip().split("\n")[3:]
        self.assertEqual(["refused: 100000 blocks" in row for row in rows], [False, True, False])
        self.assertEqual([row.endswith("ok") for row in rows], [True, False, True])
        self.assertEqual(err.count("\n"), 1)
        for word in ["bank under pr_stm", "blocks 100000", "limit"]:
            self.assertIn(word, err)
        self.assertEqual(["limit" in run.get("error", "") for run in runs], [False, True, False])
        self.assertEqual([run["commits"] for run in runs], [200, 0, 200])

    def test_where_all_is_refused_one_line_says_why(self):
        status, out, err = program.run("bench", "bank", *HOST, "--algorithm", "pr_stm", "--blocks", "100000,200000")
        self.assertEqual((status, err.count("\n"), out.count("refused")), (2, 1, 2))
        self.assertIn("blocks 100000", err)

    def test_unsafe_does_not_touch_the_exit_status(self):
        out = self.succeeds("bench", "bank", *HOST, "--algorithm", "unsafe", "--accounts", "2", "--seconds", "0.3",
                            "--os-threads", "2", "--blocks", "4")
        self.assertIn("unsafe", out)
        self.succeeds("bench", "producer_consumer", *HOST, "--algorithm", "unsafe", "--values", "3000")


if __name__ == "__main__":
    program.main()
