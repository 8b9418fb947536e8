"""A process that is killed in the middle of a fit ends the job with an error: nobody waits for it forever.

usage: killed_test.py COMMAND...
"""
import subprocess
import sys

done = subprocess.run(sys.argv[1:], capture_output=True, text=True, timeout=60)
if "ready to be killed" not in done.stdout:
    sys.exit(f"the fit did not begin\n{done.stdout}{done.stderr}")
if done.returncode == 0 or "a fit without rank 2" in done.stdout:
    sys.exit(f"the job went on without the process that was killed\n{done.stdout}{done.stderr}")
