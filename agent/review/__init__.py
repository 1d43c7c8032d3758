"""What happens to an answer before it leaves: the judge, the gate, the values of a schema."""
