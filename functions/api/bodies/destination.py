"""The schema of a destination of notices. Its content is checked by ``parse_destinations``."""

from typing import Any

DESTINATION: dict[str, Any] = {
    "anyOf": [
        {"type": "string", "enum": ["notice", "page"]},
        *(
            {"type": "object", "properties": {name: content}, "required": [name], "additionalProperties": False}
            for name, content in (
                ("sns", {"type": "string", "description": "The ARN of a topic whose policy allows the notifier."}),
                ("email", {"type": "string", "format": "email"}),
                (
                    "webhook",
                    {
                        "type": "object",
                        "properties": {
                            "url": {"type": "string", "format": "uri", "pattern": "^https://"},
                            "secret": {"type": "string", "minLength": 16, "maxLength": 256, "writeOnly": True},
                            "format": {"type": "string", "enum": ["json", "slack", "teams"], "default": "json"},
                        },
                        "required": ["url"],
                        "additionalProperties": False,
                    },
                ),
            )
        ),
    ]
}
