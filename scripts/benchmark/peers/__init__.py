"""The same work as other frameworks' programs: what Tradewind is measured beside."""
