"""Speculative loops: what they run, say and refuse."""

import json
import math
import os
import tempfile

import program
from program import HOST

WORKLOADS = ["loop", "molecular_dynamics", "cfd", "black_scholes", "colouring", "shuffle"]
VIOLATIONS = {"raw", "war", "waw", "crowded", "capacity", "body"}
CHESS_BOARD = os.path.join(os.path.dirname(__file__), "..", "..", "workloads", "data", "queen8.mtx")


def engines():
    return json.loads(program.run("list", "--json")[1])["loop_engines"]


class Listed(program.Case):
    def test_engines(self):
        listed = {e["name"]: e for e in engines()}
        for name in ["gpu_tls", "in_order_commit", "direct_update", "sequential", "doall"]:
            self.assertTrue(listed[name]["about"], name)
            self.assertEqual(listed[name]["baseline"], name in ("sequential", "doall"), name)
            self.assertEqual(listed[name]["workloads"], WORKLOADS, name)
            self.assertEqual(listed[name]["traits"]["ordered"], name != "doall", name)
        self.assertTrue(listed["sequential"]["traits"]["one_thread"])
        self.assertTrue(listed["direct_update"]["traits"]["in_place_writes"])
        text = self.succeeds("list")
        for name in listed:
            self.assertIn(name, text)

    def test_workloads(self):
        listed = {w["name"]: w["options"] for w in json.loads(self.succeeds("list", "--json"))["workloads"]}
        self.assertLessEqual({"--iterations", "--reads", "--writes", "--work", "--dependence", "--dependence-percent",
                              "--addresses"}, set(listed["loop"]))
        for name in WORKLOADS:
            self.assertIn("--iterations", listed[name])
        for a in program.algorithms():
            self.assertFalse(set(a["workloads"]) & set(WORKLOADS), a["name"])


class Runs(program.Case):
    def check_shape(self, run):
        for key in ["iterations", "rounds", "re_executed", "serial", "in_place", "forwarded"]:
            self.assertIsInstance(run[key], int, key)
            self.assertGreaterEqual(run[key], 0, key)
        for key in ["seconds", "seconds_sequential", "speedup"]:
            self.assertTrue(math.isfinite(run[key]) and run[key] >= 0, key)
        self.assertAlmostEqual(run["speedup"], run["seconds_sequential"] / run["seconds"], places=6)
        self.assertEqual(set(run["violations"]), VIOLATIONS)
        self.assertIsInstance(run["identical_to_sequential"], bool)
        self.assertEqual(run["commits"], run["iterations"])
        for key in ["workload", "algorithm", "device", "device_name", "commit", "command", "invariant"]:
            self.assertTrue(run[key], key)

    def test_every_engine_runs_every_loop(self):
        for workload in WORKLOADS:
            runs = self.runs(workload, "--algorithm", "all", "--iterations", "600", "--blocks", "2", "--threads", "32",
                             "--seed", "3")
            self.assertEqual({r["algorithm"] for r in runs}, {e["name"] for e in engines()})
            for run in runs:
                self.check_shape(run)
                self.assertEqual((run["workload"], run["iterations"]), (workload, 600))
                self.assertEqual(run["parameters"]["iterations"], 600)
                if run["algorithm"] != "doall":
                    self.assertTrue(run["invariant_ok"] and run["identical_to_sequential"], run)
                    self.assertTrue(run["judged"])
                if run["algorithm"] == "sequential":
                    self.assertEqual(run["re_executed"], 0)

    def test_dependences(self):
        runs = self.runs("loop", "--algorithm", "gpu_tls,direct_update,in_order_commit", "--dependence",
                         "none,war,waw,raw", "--dependence-percent", "5", "--addresses", "streaming,random",
                         "--iterations", "2000", "--reads", "2", "--writes", "2")
        self.assertEqual(len(runs), 24)
        for run in runs:
            self.assertTrue(run["invariant_ok"], run)
            kind = run["parameters"]["dependence"]
            self.assertIn(run["parameters"]["addresses"], ("streaming", "random"))
            if kind == "none" or (run["algorithm"] != "direct_update" and kind in ("war", "waw")):
                self.assertEqual(sum(run["violations"].values()), 0, run)
            if kind == "raw":
                self.assertGreater(run["re_executed"], 0, run)

    def test_a_loop_without_iterations(self):
        for workload in WORKLOADS:
            for run in self.runs(workload, "--algorithm", "gpu_tls,sequential,doall", "--iterations", "0"):
                self.check_shape(run)
                self.assertEqual(run["iterations"], 0)
                self.assertTrue(run["invariant_ok"], run)

    def test_what_nothing_orders_does_not_touch_the_exit_status(self):
        arguments = ["shuffle", "--algorithm", "doall", "--iterations", "3000", "--os-threads", "1"]
        run = self.runs(*arguments)[0]
        self.assertFalse(run["judged"])
        self.assertFalse(run["identical_to_sequential"])
        self.assertFalse(run["invariant_ok"])
        self.assertIn("differs", self.succeeds("bench", *arguments, *HOST))
        self.assertTrue(self.runs("loop", "--algorithm", "doall", "--dependence", "none")[0]["judged"])
        self.assertFalse(self.runs("loop", "--algorithm", "doall", "--dependence", "raw")[0]["judged"])

    def test_beyond_the_limit_prices_are_held_to_ulps(self):
        run = self.runs("black_scholes", "--algorithm", "doall", "--iterations", "70000")[0]
        self.assertIsNone(run["identical_to_sequential"])
        self.assertTrue(run["invariant_ok"])
        self.assertIn("ulp", run["invariant"])

    def test_a_graph_from_a_file(self):
        for run in self.runs("colouring", "--graph", CHESS_BOARD, "--algorithm", "gpu_tls,direct_update"):
            self.check_shape(run)
            self.assertEqual(run["iterations"], 64)
            self.assertEqual(run["parameters"]["graph"], CHESS_BOARD)

    def test_the_order_of_vertices(self):
        natural, random = self.runs("colouring", "--graph", "grid", "--order", "natural,random", "--algorithm", "gpu_tls",
                                    "--iterations", "400")
        self.assertEqual([natural["parameters"]["order"], random["parameters"]["order"]], ["natural", "random"])
        self.assertTrue(natural["identical_to_sequential"] and random["identical_to_sequential"])
        # a chain: one that is not the first of its window runs again, or after those before it
        self.assertGreaterEqual(natural["serial"] + natural["rounds"] + natural["re_executed"], 400)

    def test_windows_and_repetitions(self):
        runs = self.runs("loop", "--algorithm", "gpu_tls", "--iterations", "1000", "--window", "100,auto", "--repeat", "3")
        self.assertEqual(len(runs), 6)
        self.assertGreaterEqual(runs[0]["rounds"], 10)
        self.assertEqual(len({r["seconds_sequential"] for r in runs[:3]}), 1)  # one CPU loop for all of them

    def test_a_loop_behind_others_like_it(self):
        for dependence in ["none", "war", "waw"]:
            alone, later = self.runs("loop", "--algorithm", "gpu_tls", "--iterations", "1000", "--dependence", dependence,
                                     "--earlier-loops", "0,3")
            self.assertEqual([alone["in_place"], later["in_place"]], [0, 1000])
            self.assertTrue(alone["identical_to_sequential"] and later["identical_to_sequential"])
        later = self.runs("loop", "--algorithm", "gpu_tls", "--iterations", "1000", "--dependence", "raw", "--earlier-loops", "3")
        self.assertTrue(later[0]["identical_to_sequential"])

    def test_the_table(self):
        out = self.succeeds("bench", "loop", *HOST, "--algorithm", "gpu_tls,doall", "--iterations", "500,1000",
                            "--repeat", "3")
        lines = out.strip().split("\n")
        self.assertEqual(len(lines), 7, out)
        self.assertIn("dependence none", lines[0])
        for word in ["iterations", "algorithm", "blocks x threads", "ms", "over one core", "rounds", "executed again"]:
            self.assertIn(word, lines[2])
        for row in lines[3:]:
            self.assertIn("..", row)
            self.assertIn("ok", row)

    def test_reports_take_them(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "runs.json")
            self.succeeds("bench", "cfd", *HOST, "--algorithm", "gpu_tls", "--json", path)
            self.succeeds("report", path, "-o", folder)


class Refusals(program.Case):
    def test_numbers(self):
        for workload in WORKLOADS:
            for value in ["-1", "2147483648", "99999999999999999999", "1.5", "abc", "", "nan", "5,,6"]:
                self.refuses("bench", workload, "--iterations", value, *HOST, says=f"--iterations {value} 2147483647")
        for value in ["nan", "-1", "100.1", "inf", "1%", ""]:
            for workload in ["loop", "cfd"]:
                self.refuses("bench", workload, "--dependence-percent", value, *HOST, says="--dependence-percent 100")
            self.refuses("bench", "black_scholes", "--errors", value, *HOST, says="--errors 100")
        self.refuses("bench", "molecular_dynamics", "--partners", "2.5", *HOST, says="--partners 2.5")
        self.refuses("bench", "loop", "--writes", "0", *HOST, says="--writes")
        self.refuses("bench", "loop", "--reads", "4097", *HOST, says="--reads 4096")
        self.refuses("bench", "loop", "--window", "0", *HOST, says="--window")
        self.refuses("bench", "loop", "--earlier-loops", "1001", *HOST, says="--earlier-loops 1000")

    def test_words(self):
        for value in ["frobnicate", "", "RAW", "raw,", "none,all", "1"]:
            self.refuses("bench", "loop", "--dependence", value, *HOST, says="--dependence none war waw raw")
        self.refuses("bench", "loop", "--addresses", "everywhere", *HOST, says="--addresses streaming random")
        self.refuses("bench", "loop", "--launches", "none", *HOST, says="--launches included queued")
        self.refuses("bench", "loop", "--launches", "queued", *HOST, says="queued GPU included")

    def test_requests_that_cannot_be_met(self):
        self.refuses("bench", "loop", "--reads", "0", "--dependence", "raw", *HOST, says="read nothing")
        self.refuses("bench", "loop", "--iterations", "2147483647", *HOST, says="elements 4294967295")
        self.refuses("bench", "colouring", "--graph", "/nonexistent.mtx", *HOST, says="/nonexistent.mtx Matrix Market")
        self.refuses("bench", "colouring", "--graph", __file__, *HOST, says="line 1 Matrix Market")
        self.refuses("bench", "loop", "--blocks", "100000", *HOST, says="100000 blocks")

    def test_names(self):
        for name in ["frobnicate", "pr_stm", "", "gpu_tls,", "GPU_TLS"]:
            self.refuses("bench", "loop", "--algorithm", name, *HOST, says="loop engine gpu_tls doall")
        self.refuses("bench", "bank", "--algorithm", "gpu_tls", *HOST, says="gpu_tls pr_stm")
        for option in ["--seconds", "--transactions", "--accounts"]:
            self.refuses("bench", "loop", option, "5", *HOST, says=f"{option} loop")
        self.refuses("bench", "bank", "--iterations", "5", *HOST, says="--iterations bank")
        self.refuses("bench", "shuffle", "--dependence", "raw", *HOST, says="--dependence shuffle")


if __name__ == "__main__":
    program.main()
