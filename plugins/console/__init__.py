"""A console in the browser, generated from the declarations: lists, forms, records, actions and dashboards."""
