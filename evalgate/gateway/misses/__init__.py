"""Why a request matches nothing that was recorded."""
