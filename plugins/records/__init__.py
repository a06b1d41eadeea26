"""What plugins declare about the life of a record: routes, transitions, approvals, tables, history."""
