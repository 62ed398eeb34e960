"""Networks that several systems share: pure modules that know nothing of styles or losses."""
