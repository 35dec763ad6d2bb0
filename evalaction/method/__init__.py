"""The method: what the words mean and what the numbers are. Pure: no disk, network, git, clock, environment or printing."""
