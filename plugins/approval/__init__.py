"""Approvals: flows as data, one document for each request, and the people who are asked."""
