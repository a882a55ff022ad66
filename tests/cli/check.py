"""Exploring schedules."""

import os
import re
import shlex
import tempfile

import program


class Check(program.Case):
    def test_finds_nothing_in_what_is_right(self):
        for weak in ["on", "off"]:
            out = self.succeeds("check", "--schedules", "300", "--weak", weak)
            self.assertNotIn("unsafe", out)
            for a in program.algorithms():
                if a["traits"].get("isolated"):
                    self.assertIn(a["name"], out)

    def test_finds_nothing_in_loops(self):
        for weak in ["on", "off"]:
            for loop in ["loop", "shuffle", "colouring"]:
                out = self.succeeds("check", "--workload", loop, "--schedules", "300", "--weak", weak)
                rows = [line.split() for line in out.strip().split("\n")[1:]]
                self.assertEqual({row[0] for row in rows}, {loop})
                self.assertLessEqual({"gpu_tls", "direct_update", "in_order_commit", "sequential"}, {row[1] for row in rows})
                self.assertNotIn("doall", out)
                self.assertNotIn("pr_stm", out)

    def test_a_name_of_both_kinds_runs_both(self):
        out = self.succeeds("check", "--algorithm", "sequential", "--schedules", "10")
        for workload in ["bank", "memcached", "loop", "shuffle", "colouring"]:
            self.assertIn(workload, out)

    def test_pairs_that_do_not_fit_are_told(self):
        out = self.succeeds("check", "--algorithm", "pr_stm,gpu_tls", "--workload", "bank,loop", "--schedules", "10")
        rows = {tuple(line.split()[:3]) for line in out.strip().split("\n")[1:]}
        self.assertEqual(rows, {("bank", "pr_stm", "10"), ("bank", "gpu_tls", "n/a"),
                                ("loop", "pr_stm", "n/a"), ("loop", "gpu_tls", "10")})

    def test_finds_what_doall_breaks_and_replays_it(self):
        for workload in ["loop", "shuffle", "colouring"]:
            for weak in ["on", "off"]:
                out = self.fails("--algorithm", "doall", "--workload", workload, "--weak", weak, "--seed", "5")
                self.assertIn("race" if weak == "on" else "differ", out)
                replay = re.search(r"replay: (gputm .*)", out).group(1)
                again = self.fails(*shlex.split(replay)[2:])
                self.assertEqual(self.what(out), self.what(again))

    def fails(self, *arguments):
        status, out, err = program.run("check", *arguments)
        self.assertEqual(status, 1, f"{arguments}: {out}{err}")
        self.assertEqual(err, "")
        return out

    def test_finds_what_unsafe_breaks_and_replays_it(self):
        for workload in ["bank", "producer_consumer", "memcached"]:
            for weak in ["on", "off"]:
                out = self.fails("--algorithm", "unsafe", "--workload", workload, "--weak", weak, "--seed", "5")
                replay = re.search(r"replay: (gputm .*)", out).group(1)
                arguments = shlex.split(replay)[2:]
                again = self.fails(*arguments)
                self.assertEqual(self.what(out), self.what(again))

    @staticmethod
    def what(out):
        return out[out.index("\n\n"):]

    def test_the_same_seed_explores_the_same(self):
        def table():
            out = self.succeeds("check", "--algorithm", "pr_stm", "--schedules", "100", "--seed", "9")
            return [line.split()[:5] for line in out.split("\n")[1:]]

        self.assertEqual(table(), table())

    def test_another_seed_explores_something_else(self):
        found = {self.what(self.fails("--algorithm", "unsafe", "--workload", "bank", "--seed", str(seed)))
                 .replace(f"--seed {seed}", "") for seed in range(1, 6)}
        self.assertGreater(len(found), 1)

    def test_stale_reads_only_under_weak_memory(self):
        def stale(weak):
            out = self.succeeds("check", "--algorithm", "pr_stm", "--workload", "bank", "--schedules", "50", "--weak", weak)
            return int(out.split("\n")[1].split()[4])

        self.assertEqual(stale("off"), 0)
        self.assertGreater(stale("on"), 0)

    def test_a_failure_is_told_whatever_follows(self):
        status, out, err = program.run("check", "--algorithm", "unsafe", "--workload", "bank", "--dump", "/dev/full")
        self.assertEqual(status, 1)
        self.assertIn("replay: gputm check", out)
        self.assertIn("/dev/full", err)
        out = self.fails("--algorithm", "unsafe", "--workload", "bank,memcached")
        self.assertLess(out.index("replay: gputm check"), out.rindex("memcached"))
        self.assertEqual(out.count("replay: gputm check"), 2)

    def test_the_failing_history_is_written(self):
        for workload in ["bank", "memcached"]:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "history.txt")
                self.fails("--algorithm", "unsafe", "--workload", workload, "--dump", path)
                self.assertGreater(os.path.getsize(path), 100)


if __name__ == "__main__":
    program.main()
