"""Pictures with matplotlib, for papers, pages and model cards: data in, a figure out.

What a picture shows is worked out by who asks for it; here are values, names and how they look.
"""
