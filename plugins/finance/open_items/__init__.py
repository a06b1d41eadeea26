"""What is owed for documents, its entries, and how it is settled."""
