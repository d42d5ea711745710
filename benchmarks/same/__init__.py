"""What must not change: verdicts, controls, refutations, what is kept, audits, faces."""
