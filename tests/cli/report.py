"""Tables from JSON."""

import importlib.util
import json
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

    def table_of(self, text):
        """Rows of the report of a file with this text, cells of each by their titles."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "runs.json")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            self.succeeds("report", path, "-o", folder)
            with open(os.path.join(folder, "report.md"), encoding="utf-8") as file:
                lines = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in file if line[0] == "|"]
        return [dict(zip(lines[0], line)) for line in lines[2:]]

    def test_loops_have_their_own_columns(self):
        runs = self.runs("loop", "--algorithm", "gpu_tls,doall", "--iterations", "500", "--dependence", "none,raw",
                         "--dependence-percent", "50", "--repeat", "2")
        rows = self.table_of(json.dumps(runs))
        self.assertEqual([row["dependence"] for row in rows], ["none", "none", "raw", "raw"])
        ms = [run["seconds"] * 1e3 for run in runs[:2]]
        self.assertAlmostEqual(float(rows[0]["ms, median"]), sum(ms) / 2, delta=0.01 * max(ms))
        self.assertEqual(float(rows[2]["executed again"]), (runs[4]["re_executed"] + runs[5]["re_executed"]) / 2)
        self.assertEqual(rows[2]["invariant"], "ok")
        self.assertIn(rows[3]["invariant"], ["ok", "differs (nothing orders its iterations)"])

    def test_figures(self):
        runs = self.runs("bank", "--algorithm", "pr_stm,locks", "--accounts", "100,200", "--transactions", "200")
        runs += self.runs("loop", "--algorithm", "gpu_tls", "--iterations", "100")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "runs.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(runs, file)
            out = self.succeeds("report", path, "-o", folder)
            with open(os.path.join(folder, "report.md"), encoding="utf-8") as file:
                text = file.read()
            figures = [name for name in os.listdir(folder) if name.endswith(".svg")]
            if importlib.util.find_spec("matplotlib") is None:
                self.assertIn("no figures: they need python3 and matplotlib", out)
                self.assertEqual(figures, [])
                self.skipTest("matplotlib is not installed")
            self.assertIn("5 runs, 1 figure", out)  # of the loop nothing varies
            self.assertEqual(len(figures), 1)
            self.assertTrue(figures[0].startswith("bank-on-host"), figures)
            self.assertIn("![bank on host", text)
            self.assertIn(f"]({figures[0]})", text)
            with open(os.path.join(folder, figures[0]), encoding="utf-8") as file:
                self.assertIn("<svg", file.read())

    def test_the_median_is_not_the_mean(self):
        run = self.runs("loop", "--algorithm", "doall", "--iterations", "10")[0]
        rows = self.table_of(json.dumps([{**run, "seconds": s} for s in (0.030, 0.001, 0.002)]))
        self.assertEqual(float(rows[0]["ms, median"]), 2)

    def test_what_nothing_isolates_is_told_apart(self):
        run = self.runs("bank", "--algorithm", "pr_stm", "--transactions", "100")[0]
        broken = [{**run, "algorithm": name, "invariant_ok": False, "isolated": name != "unsafe"}
                  for name in ["pr_stm", "unsafe"]]
        self.assertEqual([row["invariant"] for row in self.table_of(json.dumps(broken))],
                         ["BROKEN", "BROKEN (nothing isolates it)"])

    def test_runs_that_failed_have_no_figures(self):
        run = self.runs("bank", "--algorithm", "pr_stm", "--transactions", "100")[0]
        failed = {**run, "commits_per_second": 0, "error": "why", "invariant_ok": False}
        for runs, median, invariant in [([run, failed], True, "ok; 1 failed"), ([failed], False, "failed")]:
            row = self.table_of(json.dumps(runs))[0]
            self.assertEqual(row["invariant"], invariant)
            self.assertEqual(row["runs"], str(len(runs)))
            self.assertEqual(row["commits/s (M), median"] != "", median)

    def test_whole_runs_of_a_bench_that_was_killed(self):
        runs = self.runs("bank", "--algorithm", "pr_stm,locks", "--transactions", "100")
        whole = "[\n" + ",\n".join(json.dumps(run) for run in runs)
        self.assertEqual(len(self.table_of(whole)), 2)
        self.assertEqual(len(self.table_of(whole[:-20])), 1)


if __name__ == "__main__":
    program.main()
