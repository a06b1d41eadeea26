"""The same works as programs of other frameworks, with which Tradewind is compared."""
