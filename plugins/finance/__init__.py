"""Finance: accounts, vouchers, expense claims, invoices and the closing of periods."""
