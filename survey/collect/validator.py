"""What a report must look like, and the bytes that it is stored as.

One validator a survey, made of its frozen design. It says what is wrong, and where, without quoting
anything of the report beyond the name of the place.
"""

import hashlib
import re
from typing import Any

from survey.collect.protocol import Errors, Refused, keys
from survey.design import Design, passes
from survey.models import ABSENT

UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.I)
MEMBERS = ("id", "design", "blocks")
NONCE = re.compile(r"[0-9a-f]{8}")


class Validator:
    """Checks reports against one frozen design and turns them into bytes.

    A fourth member is looked at and not kept: the pass where people are invited, the proof of work
    where the design asks for one.
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
        self.nothing = bytes([ABSENT]) * offset
        self.key = passes.public_key(design.passes) if design.passes else None
        self.work = design.work
        more = ("pass",) if self.key else ("work",) if self.work else ()
        self.members = (*MEMBERS, *more)

    def check(self, report: Any) -> tuple[str, bytes]:
        """The id and the content, or Refused with every place that is wrong."""
        pk, content = self.quick(report) or self.thorough(report)
        if self.key:
            self._pass(self.key, pk, report["pass"])
        if self.work and not works(self.hash, pk, report["work"], self.work):
            raise Refused(403, {"work": ["not a proof of work for this report"]})
        return pk, content

    def _pass(self, key: passes.RSAPublicKey, pk: str, given: Any) -> None:
        """Refused unless it is a pass of this survey, and the one that this id was made of."""
        try:
            found = passes.Pass.from_text(given)
        except passes.PassError as error:
            raise Refused(403, {"pass": [str(error)]}) from None
        if found.id != pk:
            raise Refused(403, {"pass": ["the id of the report is not the one of this pass"]})
        if not passes.verify(key, found.prepared, found.signature):
            raise Refused(403, {"pass": ["not signed for this survey"]})

    def quick(self, report: Any) -> tuple[str, bytes] | None:
        """The same for a report in which nothing is wrong, without looking what could be said."""
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
        content = bytearray(self.nothing)
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
            raise Refused(400, {"report": [f"an object with {listed}"]})
        errors = keys("", report, self.members)
        content = bytearray(self.nothing)
        if "id" in report and not (isinstance(report["id"], str) and UUID4.fullmatch(report["id"])):
            errors["id"] = ["a version 4 UUID, such as crypto.randomUUID() makes"]
        if "design" in report and report["design"] != self.hash:
            errors["design"] = ["not the design of this survey; load the survey again"]
        if "blocks" in report:
            self._blocks(report["blocks"], content, errors)
        if errors in ({"pass": ["missing"]}, {"work": ["missing"]}):
            raise Refused(403, errors)  # a report, from somebody who is not let in
        if errors:
            raise Refused(400, errors)
        return report["id"].lower(), bytes(content)

    def _blocks(self, blocks: Any, content: bytearray, errors: Errors) -> None:
        if not isinstance(blocks, dict):
            errors["blocks"] = ["an object: block key to a list of option positions"]
            return
        others = len(blocks.keys() - set(self.background))
        if others != self.ask:
            errors["blocks"] = [
                f"exactly {self.ask} of the design's blocks that are not background, not {others}"
            ]
        errors |= {f"blocks.{key}": ["missing"] for key in self.background if key not in blocks}
        for key, values in blocks.items():
            where = f"blocks.{key[:50]}"
            if key not in self.blocks:
                errors[where] = ["there is no such block"]
                continue
            offset, sizes = self.blocks[key]
            if not isinstance(values, list) or len(values) != len(sizes):
                errors[where] = [f"a list of {len(sizes)} option positions, one a question"]
                continue
            for i, (value, size) in enumerate(zip(values, sizes, strict=True)):
                if type(value) is int and 0 <= value < size:
                    content[offset + i] = value
                else:
                    errors[f"{where}.{i}"] = [f"an option position from 0 to {size - 1}"]


def works(design: str, pk: str, nonce: Any, bits: int) -> bool:
    """Whether a nonce is the proof of work for a report: SHA-256 with so many zero bits first."""
    if not isinstance(nonce, str) or not NONCE.fullmatch(nonce):
        return False
    found = hashlib.sha256(f"{design}{pk}{nonce}".encode()).digest()
    return not int.from_bytes(found, "big") >> (256 - bits)
