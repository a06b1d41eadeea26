"""Collections of customer imports, which keep their own names and schemas instead of those of the core."""

from __future__ import annotations

from plugins.api.spreadsheets import import_rows_of, imports_of

IMPORTS = imports_of("crm_imports", "CustomerImport", noun=("客户导入", "customer import"))
IMPORT_ROWS = import_rows_of("crm_import_rows", "CustomerImportRows", noun=("待导入客户", "customers to import"))
