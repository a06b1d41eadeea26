"""Purchase and sales orders, their shipments, and what is owed for them."""
