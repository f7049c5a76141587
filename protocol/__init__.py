"""What a supervisor and a subagent must agree on: frames, budgets, ends, events, journals.

Imports nothing of ours. Import the module you need (`from protocol.frames import Ping`): this package
re-exports nothing, so that a process pays only for what it uses.
"""

PROTOCOL_VERSION = 1
"""Version of the control protocol (DESIGN section 3). Sent in `spawn` and in `ready`."""
