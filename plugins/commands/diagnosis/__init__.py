"""The checks of `tradewind doctor`."""
