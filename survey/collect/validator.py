"""Checks reports and converts them to the bytes that are stored.

Every survey has one validator, made from its frozen design. It reports what is wrong and where,
without quoting anything from the report except names of members.
"""

import hashlib
import re
from typing import Any, NamedTuple

from survey.collect.protocol import Errors, Refused, check_keys
from survey.design import ABSENT, Design, passes
from survey.design.mechanism import Cells

UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.I)
MEMBERS = ("id", "design", "blocks")
NONCE = re.compile(r"[0-9a-f]{8}")


class BlockForm(NamedTuple):
    """The form of a block in a report."""

    places: tuple[int, ...]  # of its questions in the content
    sizes: tuple[int, ...]
    mechanism: Cells | None  # if there can be None


class Validator:
    """Checks reports against one frozen design and converts them to bytes.

    A fourth member is checked but not stored: the pass in a survey by invitation, or the proof of
    work if the design requires one.
    """

    def __init__(self, design: Design) -> None:
        self.hash = design.hash
        self.ask = design.ask
        place = {question.key: i for i, question in enumerate(design.questions)}
        self.blocks = {
            block.key: BlockForm(
                tuple(place[question.key] for question in block.questions),
                tuple(question.size for question in block.questions),
                None if all(not q.may_be_none for q in block.questions) else block.mechanism,
            )
            for block in design.blocks
        }
        self.background = [block.key for block in design.background_blocks]
        self.count = design.ask + len(self.background)
        self.blank = bytes([ABSENT]) * len(place)
        self.key = passes.public_key(design.passes) if design.passes else None
        self.work = design.work
        more = ("pass",) if self.key else ("work",) if self.work else ()
        self.members = (*MEMBERS, *more)

    def check(self, report: Any) -> tuple[str, bytes]:
        """Return the id and the content; Refused with all errors."""
        pk, content = self.quick(report) or self.thorough(report)
        if self.key:
            self._pass(self.key, pk, report["pass"])
        if self.work and not is_proof_of_work(self.hash, pk, report["work"], self.work):
            raise Refused(403, {"work": ["not a valid proof of work for this report"]})
        return pk, content

    def _pass(self, key: passes.RSAPublicKey, pk: str, text: Any) -> None:
        """Raise Refused unless this is a pass of this survey, and the source of the report's id."""
        try:
            sent = passes.Pass.from_text(text)
        except passes.PassError as error:
            raise Refused(403, {"pass": [str(error)]}) from None
        if sent.id != pk:
            raise Refused(403, {"pass": ["the report's id does not match this pass"]})
        if not passes.verify(key, sent.prepared, sent.signature):
            raise Refused(403, {"pass": ["not signed for this survey"]})

    def quick(self, report: Any) -> tuple[str, bytes] | None:
        """Check a report that is probably valid; None if it is not, without saying why."""
        if type(report) is not dict or report.get("design") != self.hash:
            return None
        if len(report) != len(self.members) or self.members[-1] not in report:
            return None
        pk, blocks = report.get("id"), report.get("blocks")
        if type(pk) is not str or type(blocks) is not dict:
            return None
        if len(blocks) != self.count or not UUID4.fullmatch(pk):
            return None
        for key in self.background:
            if key not in blocks:
                return None
        content = bytearray(self.blank)
        for key, values in blocks.items():
            form = self.blocks.get(key)
            if form is None or type(values) is not list or len(values) != len(form.sizes):
                return None
            if form.mechanism and not form.mechanism.allows(values):
                return None
            for place, value, size in zip(form.places, values, form.sizes, strict=True):
                if value is None and form.mechanism:
                    value = size
                elif type(value) is not int or not 0 <= value < size:
                    return None
                content[place] = value
        return pk.lower(), bytes(content)

    def thorough(self, report: Any) -> tuple[str, bytes]:
        if not isinstance(report, dict):
            listed = f"{', '.join(self.members[:-1])} and {self.members[-1]}"
            raise Refused(400, {"report": [f"must be an object with {listed}"]})
        errors = check_keys("", report, self.members)
        content = bytearray(self.blank)
        if "id" in report and not (isinstance(report["id"], str) and UUID4.fullmatch(report["id"])):
            errors["id"] = ["must be a version 4 UUID, such as crypto.randomUUID() returns"]
        if "design" in report and report["design"] != self.hash:
            errors["design"] = ["not the design of this survey; load the survey again"]
        if "blocks" in report:
            self._blocks(report["blocks"], content, errors)
        if errors in ({"pass": ["missing"]}, {"work": ["missing"]}):
            raise Refused(403, errors)  # a valid report from somebody without access
        if errors:
            raise Refused(400, errors)
        return report["id"].lower(), bytes(content)

    def _blocks(self, blocks: Any, content: bytearray, errors: Errors) -> None:
        if not isinstance(blocks, dict):
            errors["blocks"] = ["must be an object: block key to a list of option positions"]
            return
        others = len(blocks.keys() - set(self.background))
        if others != self.ask:
            errors["blocks"] = [
                f"must have {self.ask} of the design's blocks that are not background, not {others}"
            ]
        errors |= {f"blocks.{key}": ["missing"] for key in self.background if key not in blocks}
        for key, values in blocks.items():
            where = f"blocks.{key[:50]}"
            if key not in self.blocks:
                errors[where] = ["there is no such block"]
                continue
            form = self.blocks[key]
            if not isinstance(values, list) or len(values) != len(form.sizes):
                errors[where] = [f"must be a list of {len(form.sizes)}, one value per question"]
                continue
            wrong = False
            for i, (place, value, size) in enumerate(
                zip(form.places, values, form.sizes, strict=True)
            ):
                if value is None and form.mechanism:
                    content[place] = size
                elif type(value) is int and 0 <= value < size:
                    content[place] = value
                else:
                    wrong = True
                    errors[f"{where}.{i}"] = [f"must be a whole number from 0 to {size - 1}"]
            if form.mechanism and not wrong and not form.mechanism.allows(values):
                errors[where] = ["not an allowed combination of answers: look at only_if"]


def is_proof_of_work(design: str, pk: str, nonce: Any, bits: int) -> bool:
    """Return whether a nonce makes the report's SHA-256 begin with this many zero bits."""
    if not isinstance(nonce, str) or not NONCE.fullmatch(nonce):
        return False
    digest = hashlib.sha256(f"{design}{pk}{nonce}".encode()).digest()
    return not int.from_bytes(digest, "big") >> (256 - bits)
