"""Bad usage and impossible requests: exit status 2 and one clear line."""

import json
import os
import subprocess
import tempfile

import program
from program import HOST, SHORT

GRAPH = os.path.join(os.path.dirname(__file__), "../../workloads/data/queen8.mtx")


class Commands(program.Case):
    def test_a_command_is_needed(self):
        self.refuses(says="list bench check")

    def test_unknown_commands_and_options(self):
        self.refuses("frobnicate", says="frobnicate")
        self.refuses("bench", "bank", "--frobnicate", "3", says="--frobnicate")
        self.refuses("bench", "bank", "extra", says="extra")
        self.refuses("list", "extra", says="extra")

    def test_one_command_at_a_time(self):
        self.refuses("list", "bench", "bank", says="bench")
        self.refuses("bench", "bank", *SHORT, "check", says="check")

    def test_no_name_is_no_choice(self):
        for command, option in [(["bench", "bank", *SHORT], "--json"), (["bench", "bank", *SHORT], "--device"),
                                (["check", "--schedules", "1"], "--dump"), (["report", GRAPH], "--output")]:
            self.refuses(*command, option, "", says=f"{option} empty")

    def test_bench_needs_a_workload(self):
        self.refuses("bench", says="workload")
        self.refuses("bench", "frobnicate", says="frobnicate bank producer_consumer")

    def test_unknown_algorithms(self):
        for name in ["frobnicate", "csmv_with_a_typo", "", "pr_stm,", ",", "all,frobnicate", "PR_STM"]:
            self.refuses("bench", "bank", "--algorithm", name, *HOST, says="pr_stm locks")
        self.refuses("check", "--algorithm", "frobnicate", says="frobnicate pr_stm gpu_tls")

    def test_unknown_devices(self):
        for name in ["tpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:99999999999"]:
            self.refuses("bench", "bank", "--device", name, *SHORT, says="host cuda cuda:N")
        self.refuses("bench", "bank", "--device", "cuda:999", *SHORT, says="cuda:999")


class Numbers(program.Case):
    def refuses_value(self, option, *values, workload="bank"):
        for value in values:
            self.refuses("bench", workload, option, value, *HOST, says=f"{option} {value}")

    def test_accounts(self):
        self.refuses_value("--accounts", "0", "1", "-5", "abc", "1.5", "1e30", "1099511627776", "0x10", "10,,20", "10,",
                           "18446744073709551616", "99999999999999999999999999", "nan", "6000 ", "auto")

    def test_percentages(self):
        self.refuses_value("--rot", "nan", "-nan", "inf", "-inf", "-1", "100.1", "1e30", "abc", "10%", "")

    def test_grids(self):
        self.refuses_value("--blocks", "0", "-1", "1e3", "4294967296", "")
        self.refuses_value("--threads", "0", "-1", "1025")

    def test_amounts(self):
        self.refuses_value("--transactions", "0", "-1", "18446744073709551616")
        self.refuses_value("--seconds", "0", "-1", "nan", "inf", "1e300")
        self.refuses_value("--repeat", "0", "-1", "nan", "1,2")
        self.refuses("bench", "bank", "--transactions", "5", "--seconds", "1", says="--transactions --seconds")

    def test_capacities_and_the_rest(self):
        for option in ["--reads", "--writes", "--read-capacity", "--accounts-per-transaction"]:
            self.refuses_value(option, "0", "-1", "4194305", "nan")
        self.refuses_value("--words-per-lock", "0", "-1", "4294967296")
        self.refuses_value("--seed", "-1", "18446744073709551616")
        self.refuses_value("--warp-width", "0", "33")
        self.refuses_value("--os-threads", "0", "1025")
        self.refuses_value("--patience-rot", "-1", "4294967296")
        self.refuses_value("--stuck-seconds", "0", "nan")

    def test_producers_and_consumers(self):
        for option in ["--producers", "--consumers", "--values", "--buffer"]:
            self.refuses_value(option, "0", "-1", "1e6", "99999999999999", workload="producer_consumer")

    def test_memcached(self):
        numbers = ["0", "-1", "1.5", "abc", "1099511627776", "nan", "", "4,,8"]
        self.refuses_value("--items", *numbers, workload="memcached")
        self.refuses_value("--ways", *numbers, "4194289", workload="memcached")
        self.refuses_value("--keys", *numbers[1:], workload="memcached")
        self.refuses_value("--get", "nan", "-1", "100.1", "inf", "90%", "", workload="memcached")
        self.refuses_value("--zipf", "nan", "-0.1", "100.5", "inf", "abc", "", workload="memcached")

    def test_too_many_combinations(self):
        many = ",".join(["6000"] * 400)
        self.refuses("bench", "bank", "--accounts", many, "--rot", ",".join(["1"] * 400), *HOST, says="combinations")

    def test_an_option_given_twice(self):
        self.refuses("bench", "bank", "--rot", "1", "--rot", "2", *HOST, says="--rot")
        self.refuses("bench", "bank", "--accounts", says="--accounts")


class Requests(program.Case):
    def refuses_bench(self, *arguments, says=""):
        self.refuses("bench", *arguments, *HOST, "--algorithm", "pr_stm", says=says)

    def test_options_of_another_workload_or_algorithm(self):
        self.refuses_bench("bank", "--values", "5", says="--values bank")
        self.refuses_bench("producer_consumer", "--accounts", "5", says="--accounts producer_consumer")
        self.refuses_bench("producer_consumer", "--seconds", "5", says="--seconds producer_consumer")
        self.refuses_bench("producer_consumer", "--versions", "5", says="--versions multi-version")
        self.refuses_bench("producer_consumer", "--record", "5", says="--record multi-version")
        for workload in ["bank", "memcached"]:
            self.refuses_bench(workload, "--versions", "5", says="--versions multi-version")
            self.refuses_bench(workload, "--record", "5", says="--record multi-version")
            for algorithm in ["pr_stm", "csmv_sh"]:
                for option, value, whose in [("--cluster", "off", "cluster"), ("--servers", "2", "several")]:
                    self.refuses("bench", workload, *HOST, "--algorithm", algorithm, option, value, says=f"{option} {whose}")
        self.refuses_bench("memcached", "--accounts", "5", says="--accounts memcached")
        self.refuses_bench("memcached", "--rot", "5", says="--rot memcached")
        self.refuses_bench("bank", "--get", "5", says="--get bank")

    def test_what_does_not_go_together(self):
        self.refuses_bench("bank", "--rot-reads", "7000", says="7000 6000")
        self.refuses_bench("bank", "--sharded", "--blocks", "2", "--threads", "16", "--accounts", "63",
                           says="63 31 clients 2 grid 32 64")
        self.refuses_bench("bank", "--sharded", "--blocks", "2", "--threads", "16", "--rot", "90", "--rot-reads", "200",
                           says="6000 30 clients 200 grid 32 6400")
        self.refuses_bench("bank", "--sharded", "--accounts", "3", "--accounts-per-transaction", "4", says="room for 0 4")
        self.refuses_bench("bank", "--update-writes", "3", says="3 even")
        self.refuses_bench("memcached", "--items", "64", "--ways", "5", says="64 5 60")
        self.refuses_bench("memcached", "--items", "64", "--ways", "128", says="64 128 limit")
        self.refuses_bench("bank", "--words-per-lock", "3", says="3 power two")
        self.refuses_bench("bank", "--reads", "5", "--read-capacity", "5", says="--reads --read-capacity")
        self.refuses_bench("producer_consumer", "--blocks", "1", "--threads", "8", says="10 20 8")
        graph = ["bench", "colouring", *HOST, "--algorithm", "gpu_tls"]
        self.refuses(*graph, "--graph", GRAPH, "--iterations", "5", says="--iterations file")
        self.refuses(*graph, "--graph", f"{GRAPH},grid", "--edges-per-vertex", "5", says="--edges-per-vertex RMAT")

    def test_grids_that_cannot_be_resident(self):
        self.refuses_bench("bank", "--blocks", "100000", says="100000 limit")
        self.refuses_bench("bank", "--blocks", "4096", "--threads", "1024", says="1024 limit 29")
        self.refuses_bench("bank", "--blocks", "4096", "--threads", "32", says="4096 limit 937")
        self.refuses_bench("producer_consumer", "--producers", "40000", says="40000 producers 20 limit")

    def test_capacity_exceeded(self):
        # one thread: of several, whichever is first names its own transaction's array
        some = ["--transactions", "1000", "--blocks", "1", "--threads", "1"]
        self.refuses_bench("bank", "--writes", "1", *some, says="write balance 1 --writes")
        self.refuses_bench("bank", "--read-capacity", "10", "--rot", "50", *some, says="read balance 6000")
        self.refuses_bench("memcached", "--items", "64", "--get", "0", "--writes", "1", *some, says="write 1")
        self.refuses_bench("memcached", "--items", "64", "--reads", "1", *some, says="read metadata 1 --reads")

    def test_workloads_that_an_algorithm_cannot_run(self):
        for name in ["sequential", "libitm"]:
            if any(a["name"] == name for a in program.algorithms()):
                self.refuses("bench", "producer_consumer", *HOST, "--algorithm", name, says=name)
        if any(a["name"] == "libitm" for a in program.algorithms()):
            self.refuses("bench", "memcached", *HOST, "--algorithm", "libitm", says="libitm memcached")

    def test_files_that_cannot_be_written_are_found_before_the_run(self):
        for path in ["/nonexistent/file.json", "/"]:
            out = self.refuses("bench", "bank", *HOST, "--seconds", "100", "--json", path, says=path)
            self.assertEqual(out, "")
        self.refuses("check", "--dump", "/nonexistent/dump", says="/nonexistent/dump")

    def test_files_are_replaced_by_runs_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            old, new = os.path.join(folder, "old.json"), os.path.join(folder, "new.json")
            with open(old, "w", encoding="utf-8") as file:
                file.write("precious")
            for path in [old, new]:
                self.refuses_bench("bank", "--blocks", "100000", "--json", path, says="limit")
            with open(old, encoding="utf-8") as file:
                self.assertEqual(file.read(), "precious")
            self.assertFalse(os.path.exists(new))

    def test_closed_streams_are_no_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "runs.json")
            command = f"'{program.PROGRAM}' bench bank {' '.join(HOST + SHORT)} --algorithm pr_stm --json '{path}'"
            done = subprocess.run(command + " >&- 2>&-", shell=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 2)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(len(json.load(file)), 1)

    def test_a_full_disk(self):
        self.refuses("bench", "bank", *HOST, *SHORT, "--algorithm", "pr_stm", "--json", "/dev/full", says="/dev/full")

    def test_check_and_report(self):
        self.refuses("check", "--schedules", "0", says="--schedules")
        self.refuses("check", "--schedules", "nan", says="--schedules")
        self.refuses("check", "--seed", "-1", says="--seed")
        self.refuses("check", "--weak", "maybe", says="--weak on off")
        self.refuses("check", "--workload", "frobnicate", says="frobnicate bank loop")
        self.refuses("check", "--workload", "bank", "--algorithm", "gpu_tls", says="bank gpu_tls loop shuffle colouring")
        self.refuses("check", "--workload", "loop", "--algorithm", "pr_stm", says="loop pr_stm")
        self.refuses("report", "/nonexistent.json", "-o", "/tmp", says="/nonexistent.json")
        self.refuses("report", __file__, "-o", "/tmp", says="refusals.py")
        self.refuses("report", "/tmp", "-o", "/tmp", says="/tmp directory")


if __name__ == "__main__":
    program.main()
