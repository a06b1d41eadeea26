"""Purchasing, sales and stock: products, warehouses, suppliers, orders, and the stock ledger."""
