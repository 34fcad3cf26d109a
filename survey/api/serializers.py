"""Serializers for what the survey API returns. The ingest path does not use them."""

import json
from typing import Any

from rest_framework import serializers

from survey.design.kinds import KINDS
from survey.models import Survey


class OptionSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    text = serializers.CharField()
    score = serializers.FloatField(required=False, help_text="Only in a scale.")


class GateSerializer(serializers.Serializer[Any]):
    """An earlier question of the block, and the options after which a follow-up is asked."""

    question = serializers.CharField()
    options = serializers.ListField(child=serializers.CharField())


class QuestionSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    kind = serializers.ChoiceField(choices=list(KINDS))
    text = serializers.CharField()
    options = OptionSerializer(
        many=True, help_text="Of a number, only “Prefer not to say”, which comes after its levels."
    )
    least = serializers.IntegerField(required=False, help_text="Only of a number.")
    most = serializers.IntegerField(required=False, help_text="Only of a number.")
    levels = serializers.IntegerField(
        required=False,
        help_text="Only of a number: the steps from its lowest level to its highest.",
    )
    unit = serializers.CharField(required=False, help_text="Only of a number.")
    picks = serializers.IntegerField(
        required=False, help_text="Only of multiple choice: how many options a person may pick."
    )
    only_if = GateSerializer(required=False, help_text="Only of a follow-up.")
    shuffled = serializers.BooleanField(
        required=False, help_text="True if each device shows the options in an order of its own."
    )


class BlockSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    epsilon = serializers.FloatField()
    keep = serializers.IntegerField(help_text="How often out of `scale` the answers are kept.")
    background = serializers.BooleanField(
        required=False, help_text="True if everybody is asked this block, besides `ask` others."
    )
    questions = QuestionSerializer(many=True)


class QuestionTextsSerializer(serializers.Serializer[Any]):
    """One question in another language; missing texts fall back to the survey's own language."""

    text = serializers.CharField(required=False)
    options = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="All options, in the order of the question.",
    )


class DisclosureTextsSerializer(serializers.Serializer[Any]):
    """Who asks, why, and how to reach them; empty texts are left out."""

    asked_by = serializers.CharField(required=False)
    purpose = serializers.CharField(required=False)
    contact = serializers.CharField(required=False)


class DisclosuresSerializer(DisclosureTextsSerializer):
    retention_days = serializers.IntegerField(
        required=False, help_text="Everything is deleted this many days after the survey closes."
    )


class DesignTextsSerializer(serializers.Serializer[Any]):
    """The texts of the design in another language, by the keys of the questions."""

    disclosures = DisclosureTextsSerializer(required=False)
    questions = serializers.DictField(child=QuestionTextsSerializer(), required=False)


class SurveyTextsSerializer(serializers.Serializer[Any]):
    """The survey's texts outside its design, in another language."""

    title = serializers.CharField(required=False)
    introduction = serializers.CharField(required=False)


class PassesSerializer(serializers.Serializer[Any]):
    """The public key for a survey's passes, RFC 9474."""

    scheme = serializers.CharField()
    n = serializers.CharField(help_text="The modulus, big-endian, in base64url.")
    e = serializers.CharField()


class DesignSerializer(serializers.Serializer[Any]):
    hash = serializers.CharField(help_text="SHA-256 of the canonical JSON of all other members.")
    mechanism = serializers.CharField()
    scale = serializers.IntegerField()
    epsilon = serializers.FloatField(
        help_text="What one respondent spends on the blocks that are not background."
    )
    ask = serializers.IntegerField(
        help_text="How many of the blocks that are not background one respondent is asked."
    )
    blocks = BlockSerializer(many=True)
    disclosures = DisclosuresSerializer(required=False, help_text="Absent if all texts are empty.")
    translations = serializers.DictField(
        child=DesignTextsSerializer(),
        required=False,
        help_text="By language tag; absent if nothing in the design is translated.",
    )
    shuffled = serializers.BooleanField(
        required=False, help_text="True if each device asks the blocks in an order of its own."
    )
    fillers = serializers.BooleanField(
        required=False,
        help_text="True if people who are asked fewer questions see neutral ones instead, whose "
        "answers are not sent.",
    )
    passes = PassesSerializer(required=False, help_text="Only for surveys by invitation.")
    work = serializers.IntegerField(
        required=False, help_text="Bits of the proof of work that each report must carry."
    )


class DefinitionSerializer(serializers.Serializer[Survey]):
    """The definition of a survey for respondents' clients (protocol 1)."""

    protocol = serializers.IntegerField()
    slug = serializers.CharField()
    title = serializers.CharField()
    introduction = serializers.CharField()
    language = serializers.CharField(help_text="The language tag of the survey's own texts.")
    translations = serializers.DictField(
        child=SurveyTextsSerializer(),
        help_text="Texts in the other languages of the survey, by language tag.",
    )
    state = serializers.ChoiceField(choices=["open", "closed"])
    crowd = serializers.IntegerField(
        help_text="While the survey is open, results appear after twice this many responses and "
        "change by at least so many; after closing, this many are enough."
    )
    results_public = serializers.BooleanField(
        help_text="True if anyone can read the results at `/results/{slug}/`."
    )
    design = DesignSerializer()

    def to_representation(self, survey: Survey) -> dict[str, Any]:
        return {
            "protocol": 1,
            "slug": survey.slug,
            "title": survey.title,
            "introduction": survey.introduction,
            "language": survey.language,
            "translations": {
                tag: {name: texts[name] for name in ("title", "introduction") if name in texts}
                for tag, texts in sorted(survey.translations.items())
            },
            "state": survey.state,
            "crowd": survey.crowd,
            "results_public": survey.results_public,
            "design": {"hash": survey.design_hash, **json.loads(survey.design)},
        }


class SurveySerializer(serializers.ModelSerializer[Survey]):
    """A survey in the list of those that the user can read."""

    class Meta:
        model = Survey
        fields = ["slug", "title", "state", "epsilon", "crowd", "design_hash", "results_public"]
