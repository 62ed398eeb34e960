"""The design of all pages: one set of colours, type, spacing and corners, light and dark.

``tokens.css`` defines them as CSS variables; :func:`tstbench.spaces.templates.stylesheet` puts them
before a page's own rules, and :mod:`.theme` applies them to Gradio's components. ``base.css`` is
what the pages of annotate and rewrite share besides.
"""
