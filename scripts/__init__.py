"""The commands, and the modules behind them."""
