"""How ``acceptability_v1``, the classifier that the CoLA metric scores with, was trained."""
