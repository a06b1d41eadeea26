"""A console in the browser, made from the declarations: lists, forms, records, actions and dashboards."""
