"""Collections of imports of customers, which are older than those of the core: their names and schemas stay."""

from __future__ import annotations

from plugins.api import import_rows_of, imports_of

IMPORTS = imports_of("crm_imports", "CustomerImport", noun=("客户导入", "customer import"))
IMPORT_ROWS = import_rows_of("crm_import_rows", "CustomerImportRows", noun=("待导入客户", "customers to import"))
