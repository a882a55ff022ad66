"""Progress is for people: it appears on a terminal and nowhere else."""

import os
import pty
import subprocess

import program
from program import HOST, SHORT


class Terminal(program.Case):
    def test_progress_on_a_terminal(self):
        leader, follower = pty.openpty()
        done = subprocess.run([program.PROGRAM, "bench", "bank", *HOST, *SHORT, "--algorithm", "pr_stm"],
                              stdout=subprocess.PIPE, stderr=follower, text=True, timeout=60, check=True)
        os.close(follower)
        shown = os.read(leader, 65536).decode()
        os.close(leader)
        self.assertIn("[1/1] bank: pr_stm", shown)
        self.assertTrue(shown.endswith("\r\x1b[K"), repr(shown))  # and it is wiped in the end
        self.assertNotIn("\x1b", done.stdout)

    def test_none_in_a_pipe(self):
        for command in [["bench", "bank", *HOST, *SHORT], ["check", "--schedules", "20"], ["list"]]:
            self.assertNotIn("\x1b", self.succeeds(*command))


if __name__ == "__main__":
    program.main()
