"""The ground floor: directions, upstream sources, cleaning, one file per dataset."""
