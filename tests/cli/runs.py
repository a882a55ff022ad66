"""The JSON of `bench`."""

import json
import math
import os
import re
import tempfile

import program
from program import HOST, SHORT

REASONS = {"read_conflict", "write_conflict", "lock_stolen", "record_overwritten", "version_overwritten", "capacity",
           "cancelled", "retry"}
TEXTS = ["workload", "algorithm", "device", "device_name", "commit", "command", "invariant"]
COUNTS = ["commits", "read_only_commits", "read_only_aborts"]
NUMBERS = ["seconds", "commits_per_second", "aborts_per_commit"]


class Runs(program.Case):
    def check_shape(self, run):
        for key in TEXTS:
            self.assertIsInstance(run[key], str, key)
            self.assertTrue(run[key], key)
        for key in COUNTS:
            self.assertIsInstance(run[key], int, key)
        for key in NUMBERS:
            self.assertTrue(math.isfinite(run[key]), key)
        self.assertIsInstance(run["invariant_ok"], bool)
        self.assertEqual(set(run["aborts"]), REASONS)
        self.assertGreater(run["seconds"], 0)
        self.assertAlmostEqual(run["commits_per_second"], run["commits"] / run["seconds"], delta=1)
        self.assertLessEqual(run["read_only_commits"], run["commits"])
        conflicts = sum(n for reason, n in run["aborts"].items() if reason not in ("cancelled", "retry"))
        self.assertAlmostEqual(run["aborts_per_commit"], conflicts / max(run["commits"], 1), places=6)
        for key in ["blocks", "threads"]:
            self.assertGreaterEqual(run["parameters"][key], 1)

    def test_every_algorithm_runs_the_bank(self):
        runs = self.runs("bank", "--rot", "10", "--accounts", "200", "--transactions", "4000", "--seed", "7",
                         "--blocks", "2", "--threads", "32")
        self.assertEqual({r["algorithm"] for r in runs}, {a["name"] for a in program.algorithms()})
        for run in runs:
            self.check_shape(run)
            self.assertEqual(run["workload"], "bank")
            self.assertEqual(run["device"], "host")
            self.assertEqual(run["commits"], 4000, run["algorithm"])
            self.assertTrue(run["invariant_ok"] or run["algorithm"] == "unsafe", run)
            parameters = run["parameters"]
            self.assertEqual((parameters["accounts"], parameters["rot"], parameters["seed"]), (200, 10, 7))
            self.assertEqual(parameters["transactions"], 4000)
            self.assertNotIn("seconds", parameters)
            self.assertIs(parameters["sharded"], False)
            self.assertAlmostEqual(run["read_only_commits"] / 4000, 0.1, delta=0.05)
            self.assertTrue(run["invariant"].startswith("sum of balances "), run)
            if run["algorithm"] != "unsafe":
                self.assertIn("sum of balances 200000 = 200000", run["invariant"])

    def test_every_field_is_documented(self):
        page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "json.md")
        with open(page) as f:
            rows = [line.split("|")[1] for line in f if line.startswith("| `")]
        documented = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
        bank = self.runs("bank", "--algorithm", "pr_stm", "--accounts", "64", "--transactions", "100")[0]
        loop = self.runs("loop", "--algorithm", "gpu_tls", "--iterations", "100")[0]
        fields = set(bank) | set(loop) | set(bank["aborts"])
        self.assertEqual(fields - documented, set())
        self.assertEqual(documented - fields, {"error", "phases"} - fields)

    def test_producers_and_consumers(self):
        # on one OS thread: two take turns at every third value, and each turn takes a time slice on a machine that is busy
        runs = self.runs("producer_consumer", "--values", "10", "--buffer", "3", "--os-threads", "1")
        for run in runs:
            self.check_shape(run)
            if run["algorithm"] != "unsafe":
                self.assertTrue(run["invariant_ok"], run)
                self.assertEqual(run["commits"], 2 * 10 * 10 + 20)
                self.assertIn("100 of 100 values consumed, none twice", run["invariant"])
        self.assertGreater(len(runs), 3)

    def test_every_algorithm_runs_memcached(self):
        runs = self.runs("memcached", "--items", "512", "--ways", "8", "--keys", "1000", "--get", "90", "--transactions",
                         "6400", "--blocks", "2", "--threads", "16")
        self.assertEqual({r["algorithm"] for r in runs}, {a["name"] for a in program.algorithms()} - {"libitm"})
        for run in runs:
            self.check_shape(run)
            self.assertEqual(run["commits"], 6400, run["algorithm"])
            self.assertAlmostEqual(run["read_only_commits"] / 64, 90, delta=1, msg=run["algorithm"])
            self.assertTrue(run["invariant_ok"] or run["algorithm"] == "unsafe", run)
            if run["algorithm"] != "unsafe":
                self.assertIn("no key twice", run["invariant"])
                self.assertIn("all of them the key's value", run["invariant"])
            parameters = run["parameters"]
            for key, value in {"items": 512, "ways": 8, "keys": 1000, "get": 90, "zipf": 0.99}.items():
                self.assertEqual(parameters[key], value, key)

    def test_popular_keys_hit_more_often(self):
        def hits(zipf):
            run = self.runs("memcached", "--algorithm", "sequential", "--items", "64", "--ways", "8", "--keys", "4000",
                            "--get", "90", "--zipf", zipf, "--transactions", "3000")[0]
            return int(re.search(r"(\d+) of \d+ GETs hit", run["invariant"]).group(1))

        self.assertGreater(hits("2"), 2 * hits("0"))

    def test_a_grid_of_memcached(self):
        runs = self.runs("memcached", "--algorithm", "pr_stm", "--items", "256,512", "--ways", "4,256", "--get", "50,99.8",
                         "--zipf", "0,1.5", "--transactions", "400")
        self.assertEqual(len({(r["parameters"]["items"], r["parameters"]["ways"], r["parameters"]["get"],
                               r["parameters"]["zipf"]) for r in runs}), 16)

    def test_a_bank_of_few_versions(self):
        for run in self.runs("bank", "--algorithm", "jvstm_gpu,csmv_sh", "--versions", "2,10", "--record", "16",
                             "--accounts", "100", "--rot", "10", "--transactions", "1000"):
            self.check_shape(run)
            self.assertTrue(run["invariant_ok"], run)
            self.assertIn(run["parameters"]["versions"], (2, 10))
            self.assertEqual(run["parameters"]["record"], 16)

    def test_servers_in_a_cluster(self):
        runs = self.runs("bank", "--algorithm", "csmv_sh,csmv_partitioned", "--servers", "2,3", "--cluster", "on,off",
                         "--accounts", "100", "--blocks", "2", "--threads", "8", "--transactions", "200")
        for run in runs:  # the JSON says what was
            self.assertTrue(run["invariant_ok"], run)
            if run["algorithm"] == "csmv_sh" or run["parameters"]["servers"] == 3:
                self.assertEqual(run["parameters"]["cluster"], "off")
        self.assertEqual(sum(r["parameters"]["cluster"] == "on" for r in runs), 1)
        self.refuses("bench", "bank", "--cluster", "yes", *HOST, says="--cluster yes")

    def test_a_sharded_bank(self):
        runs = self.runs("bank", "--algorithm", "all", "--sharded", "--rot", "0,90", "--rot-reads", "100", "--blocks", "2",
                         "--threads", "8", "--transactions", "1600")
        for run in runs:
            self.check_shape(run)
            self.assertTrue(run["invariant_ok"], run)  # nothing is shared, so nothing needs isolation
            if run["algorithm"] != "libitm":  # which does not say why it aborts
                self.assertEqual(run["aborts"]["read_conflict"], 0, run)
            if run["parameters"]["rot"]:
                n = run["read_only_commits"]
                self.assertIn(f"{n} of {n} read-only sums right", run["invariant"])
        few = self.runs("bank", "--algorithm", "csmv_sh,jvstm_gpu", "--sharded", "--rot", "90", "--rot-reads", "100",
                        "--read-capacity", "2,64", "--blocks", "2", "--threads", "8", "--transactions", "400")
        self.assertEqual([r["parameters"]["read_capacity"] for r in few], [2, 2, 64, 64])
        longer = self.runs("bank", "--algorithm", "csmv_sh", "--sharded", "--update-reads", "0,9", "--update-writes", "0,8",
                           "--blocks", "2", "--threads", "8", "--transactions", "400")
        self.assertEqual([(r["parameters"]["update_reads"], r["parameters"]["update_writes"]) for r in longer],
                         [(0, 0), (0, 8), (9, 0), (9, 8)])
        self.assertTrue(all(r["invariant_ok"] for r in longer), longer)
        one = self.runs("bank", "--algorithm", "pr_stm", "--sharded", "--accounts", "5", *SHORT)[0]
        self.assertLessEqual(one["parameters"]["blocks"] * one["parameters"]["threads"], 2)

    def test_values_as_they_are(self):
        run = self.runs("bank", "--algorithm", "pr_stm", *SHORT, "--blocks", "3", "--threads", "5", "--sharded", "--rot",
                        "12.5", "--rot-reads", "4", "--os-threads", "1", "--warp-width", "4", "--seed", str(2**64 - 1))[0]
        parameters = run["parameters"]
        for key, value in {"blocks": 3, "threads": 5, "sharded": True, "rot": 12.5, "rot_reads": 4, "os_threads": 1,
                           "warp_width": 4, "seed": 2**64 - 1, "seconds": 0.02}.items():
            self.assertEqual(parameters[key], value, key)

    def test_the_command_can_be_read_back(self):
        run = self.runs("bank", "--algorithm", "pr_stm", *SHORT)[0]
        self.assertIn("bench bank --algorithm pr_stm --seconds 0.02 --device host --json -", run["command"])

    def test_a_file_has_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "runs.json")
            out = self.succeeds("bench", "bank", "--algorithm", "pr_stm,locks", *SHORT, *HOST, "--json", path)
            with open(path, encoding="utf-8") as file:
                runs = json.load(file)
            self.assertEqual([r["algorithm"] for r in runs], ["pr_stm", "locks"])
            for run in runs:
                self.check_shape(run)
                self.assertIn(run["algorithm"], out)

    def test_what_was_run_before_a_refusal_is_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "runs.json")
            self.refuses("bench", "bank", "--algorithm", "pr_stm", "--blocks", "2,100000", *SHORT, *HOST, "--json", path)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(["error" in run for run in json.load(file)], [False, True])

    def test_libitm_says_how(self):
        if not any(a["name"] == "libitm" for a in program.algorithms()):
            self.skipTest("this build has no libitm")
        arguments = ["bench", "bank", "--algorithm", "libitm", *SHORT, *HOST, "--blocks", "2", "--json", "-"]
        for method in ["gl_wt", "ml_wt"]:
            out = self.succeeds(*arguments, env={**os.environ, "ITM_DEFAULT_METHOD": method})
            run = json.loads(out)[0]
            self.check_shape(run)
            self.assertTrue(run["invariant_ok"])
            self.assertEqual(run["parameters"]["itm_method"], method)


if __name__ == "__main__":
    program.main()
