"""The pictures and the page of an analysis: drawn from data that pipelines/analysis computed."""
