"""The ground floor: directions, upstream sources, cleaning, one builder per dataset."""
