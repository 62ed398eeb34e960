"""Gradio's components in the page's colours; the variables are those of tokens.css."""

from __future__ import annotations

import gradio as gr

_SANS = ["system-ui", "-apple-system", "Segoe UI", "Roboto", "Helvetica Neue", "Arial"]
_MONO = ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "Liberation Mono", "monospace"]
_COLOURS = {
    "body_background_fill": "var(--paper)",
    "body_text_color": "var(--ink)",
    "body_text_color_subdued": "var(--muted)",
    "background_fill_primary": "var(--surface)",
    "background_fill_secondary": "var(--surface)",
    "block_background_fill": "transparent",
    "block_border_color": "var(--line-strong)",
    "block_label_background_fill": "transparent",
    "block_label_text_color": "var(--muted)",
    "block_title_text_color": "var(--muted)",
    "border_color_primary": "var(--line)",
    "border_color_accent": "var(--accent)",
    "color_accent_soft": "var(--accent-soft)",
    "input_background_fill": "var(--surface)",
    "input_border_color": "var(--line-strong)",
    "input_border_color_hover": "var(--accent)",
    "input_border_color_focus": "var(--accent)",
    "input_placeholder_color": "var(--muted)",
    "button_primary_background_fill": "var(--accent)",
    "button_primary_background_fill_hover": "var(--accent-strong)",
    "button_primary_text_color": "var(--on-accent)",
    "button_primary_border_color": "var(--accent)",
    "button_primary_border_color_hover": "var(--accent-strong)",
    "link_text_color": "var(--accent)",
    "link_text_color_hover": "var(--accent-strong)",
    "button_secondary_background_fill": "var(--surface)",
    "button_secondary_background_fill_hover": "var(--accent-soft)",
    "button_secondary_text_color": "var(--ink)",
    "button_secondary_border_color": "var(--line-strong)",
}


def theme() -> gr.themes.Base:
    """The theme for light and dark: only the variables change. No font is downloaded."""
    values = {**_COLOURS, **{f"{name}_dark": value for name, value in _COLOURS.items()}}
    base = gr.themes.Base(font=_SANS, font_mono=_MONO, radius_size="sm")
    return base.set(
        **values,
        block_shadow="none",
        block_border_width="0px",
        block_padding="0px",
        block_title_text_size="12.5px",
        block_title_text_weight="500",
        input_border_width="1px",
        input_padding="9px 12px",
        input_radius="8px",
        button_large_radius="8px",
        button_large_text_size="15px",
        button_large_text_weight="600",
    )
