"""What becomes of work that is killed, finds no room or is interrupted; ``make faults``."""
