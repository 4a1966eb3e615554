"""What the user writes: graphs, workloads, devices, links, systems, plans, profiles; TOML files or catalog names."""
