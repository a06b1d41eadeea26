"""The plugin vben: what the pages of vben-admin 5 ask for."""
