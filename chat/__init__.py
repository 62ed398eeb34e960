"""Chat servers that speak OpenAI's protocol: asked patiently, within limits, and never twice."""
