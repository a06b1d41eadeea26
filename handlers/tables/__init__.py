"""Tables: collections as CSV and XLSX files that people export, fill in and import."""
