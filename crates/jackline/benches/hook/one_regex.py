# The least that a hook in Python does: read the message, look for one pattern, answer.
import json
import re
import sys

message = json.load(sys.stdin)
command = message.get("tool_input", {}).get("command", "")
if re.search(r"\bgit\s+push\b.*(--force|-f)\b", command):
    decision = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "force-push rewrites shared history",
    }
    print(json.dumps({"hookSpecificOutput": decision}))
