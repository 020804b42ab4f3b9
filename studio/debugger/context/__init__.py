"""What every node invocation saw, where it came from, what it gave back and what stayed hidden; and rules that warn."""
