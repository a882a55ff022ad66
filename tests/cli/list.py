"""What `list` says."""

import json

import program


class List(program.Case):
    def test_json(self):
        listed = json.loads(self.succeeds("list", "--json"))
        self.assertLessEqual({"algorithms", "loop_engines", "workloads", "devices"}, listed.keys())
        names = [a["name"] for a in listed["algorithms"]]
        self.assertEqual(len(names), len(set(names)))
        for name in ["pr_stm", "pr_stm_opaque", "locks", "unsafe", "sequential"]:
            self.assertIn(name, names)
        for a in listed["algorithms"]:
            self.assertIn("bank", a["workloads"], a["name"])
            self.assertTrue(a["about"], a["name"])
        self.assertEqual([w["name"] for w in listed["workloads"]][:3],
                         ["bank", "producer_consumer", "memcached"])
        self.assertLessEqual({"gpu_tls", "in_order_commit", "direct_update", "sequential", "doall"},
                             {e["name"] for e in listed["loop_engines"]})
        options = {w["name"]: w["options"] for w in listed["workloads"]}
        self.assertLessEqual({"--items", "--ways", "--get", "--zipf"}, set(options["memcached"]))
        self.assertLessEqual({"--sharded", "--versions", "--record", "--read-capacity"}, set(options["bank"]))
        for a in listed["algorithms"]:
            self.assertEqual("memcached" in a["workloads"], a["name"] != "libitm", a["name"])
        self.assertEqual(listed["devices"][0]["name"], "host")

    def test_traits(self):
        traits = {a["name"]: a["traits"] for a in program.algorithms()}
        self.assertFalse(traits["pr_stm"]["opaque"])
        self.assertTrue(traits["pr_stm_opaque"]["opaque"])
        self.assertFalse(traits["unsafe"]["isolated"])
        self.assertTrue(traits["sequential"]["one_thread"])
        self.assertTrue(traits["locks"]["needs_footprint"])

    def test_text_names_everything(self):
        text = self.succeeds("list")
        for a in program.algorithms():
            self.assertIn(a["name"], text)
        for word in ["bank", "producer_consumer", "host", "Loop engines", "--accounts"]:
            self.assertIn(word, text)

    def test_help_and_version(self):
        for command in ["bench", "check", "list"]:
            self.assertIn(command, self.succeeds("--help"))
            self.assertTrue(self.succeeds(command, "--help"))
        self.assertIn("gputm", self.succeeds("--version"))


if __name__ == "__main__":
    program.main()
