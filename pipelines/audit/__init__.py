"""Which protocol a published number used: outputs are scored under all of them.

``claims`` reads the numbers, ``bleu`` and ``measured`` compute every protocol's value, ``audit``
compares them, ``audit_text`` shows what was found.
"""
