"""What is taken back from an agent stage, and what may be kept of it."""

from __future__ import annotations

from evalgate.core.claim import Claim
from evalgate.core.files import File, FileMode
from evalgate.core.redaction import Redactor, known_secrets
from evalgate.runner.agent_stage import redacted, secret_in

REDACTOR = Redactor({"DB_PASSWORD": "hunter2hunter2"})


def test_code_that_names_an_everyday_password_stays_as_it_is() -> None:
    """``postgres`` is a word: a variable of that name is no secret."""
    redactor = Redactor(known_secrets({"POSTGRES_PASSWORD": "postgres"}))
    claim = Claim(changed={"db.py": File(data=b"postgres = connect()\n")})
    assert redacted(redactor, claim) == claim
    assert secret_in(redactor, claim) == ""


def test_a_secret_in_a_claim_is_named_and_never_kept() -> None:
    """In a file, in the name of one, or in what a link points to."""
    for claim in (
        Claim(changed={"a": File(data=b"x"), "b": File(data=b"key = 'hunter2hunter2'")}),
        Claim(changed={"hunter2hunter2/b": File(data=b"x")}),
        Claim(changed={"b": File(data=b"/hunter2hunter2", mode=FileMode.SYMLINK)}),
        Claim(deleted=("hunter2hunter2",)),
    ):
        assert secret_in(REDACTOR, claim) == "DB_PASSWORD"
        assert "hunter2" not in repr(redacted(REDACTOR, claim))
        assert secret_in(REDACTOR, redacted(REDACTOR, claim)) == ""
