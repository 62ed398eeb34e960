"""Which protocol a published number used: outputs are scored under all of them."""
