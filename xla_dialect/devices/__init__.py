"""Processes on a grid of replicas and partitions: groups, channels, shardings, and rendezvous."""
