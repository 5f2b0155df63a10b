"""Processes on a grid of replicas and partitions: groups, channels, and rendezvous."""
