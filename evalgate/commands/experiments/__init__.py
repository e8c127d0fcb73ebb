"""What is asked beside the gate: noise, plan, drift, compare, bisect, and the ledger of it all."""
