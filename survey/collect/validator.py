"""Checks reports and converts them to the bytes that are stored.

Every survey has one validator, made from its frozen design. It reports what is wrong and where,
without quoting anything from the report except names of members.
"""

import hashlib
import re
from typing import Any

from survey.collect.protocol import Errors, Refused, check_keys
from survey.design import ABSENT, Design, passes

UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.I)
MEMBERS = ("id", "design", "blocks")
NONCE = re.compile(r"[0-9a-f]{8}")


class Validator:
    """Checks reports against one frozen design and converts them to bytes.

    A fourth member is checked but not stored: the pass in a survey by invitation, or the proof of
    work if the design requires one.
    """

    def __init__(self, design: Design) -> None:
        self.hash = design.hash
        self.ask = design.ask
        self.blocks: dict[str, tuple[int, tuple[int, ...]]] = {}
        offset = 0
        for block in design.blocks:
            self.blocks[block.key] = offset, tuple(q.size for q in block.questions)
            offset += len(block.questions)
        self.background = [block.key for block in design.background_blocks]
        self.count = design.ask + len(self.background)
        self.blank = bytes([ABSENT]) * offset
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
            offset, sizes = self.blocks.get(key, (0, ()))
            if type(values) is not list or not sizes or len(values) != len(sizes):
                return None
            for value, size in zip(values, sizes, strict=True):
                if type(value) is not int or not 0 <= value < size:
                    return None
            content[offset : offset + len(sizes)] = values
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
            offset, sizes = self.blocks[key]
            if not isinstance(values, list) or len(values) != len(sizes):
                errors[where] = [f"must be {len(sizes)} option positions, one per question"]
                continue
            for i, (value, size) in enumerate(zip(values, sizes, strict=True)):
                if type(value) is int and 0 <= value < size:
                    content[offset + i] = value
                else:
                    errors[f"{where}.{i}"] = [f"must be an option position from 0 to {size - 1}"]


def is_proof_of_work(design: str, pk: str, nonce: Any, bits: int) -> bool:
    """Return whether a nonce makes the report's SHA-256 begin with this many zero bits."""
    if not isinstance(nonce, str) or not NONCE.fullmatch(nonce):
        return False
    digest = hashlib.sha256(f"{design}{pk}{nonce}".encode()).digest()
    return not int.from_bytes(digest, "big") >> (256 - bits)
