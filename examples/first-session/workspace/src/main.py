"""A small service; the agent is asked to raise its number of workers."""

print("listening")
