"""What people see of a ledger: tables, progress, the generated index."""
