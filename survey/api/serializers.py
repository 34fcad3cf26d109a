"""The shapes of what the survey API returns. The ingest path does not come by here."""

import json
from typing import Any

from rest_framework import serializers

from survey.models import Survey


class OptionSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    text = serializers.CharField()


class QuestionSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    text = serializers.CharField()
    options = OptionSerializer(many=True)


class BlockSerializer(serializers.Serializer[Any]):
    key = serializers.CharField()
    epsilon = serializers.FloatField()
    keep = serializers.IntegerField(help_text="Of `scale`: how often the answers are kept.")
    background = serializers.BooleanField(
        required=False, help_text="True if everybody is asked this block, besides `ask` others."
    )
    questions = QuestionSerializer(many=True)


class QuestionTextsSerializer(serializers.Serializer[Any]):
    """One question in another language; what is missing is read in the survey's own."""

    text = serializers.CharField(required=False)
    options = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        help_text="All of them, in the order of the question's options.",
    )


class ToldTextsSerializer(serializers.Serializer[Any]):
    """Who asks, why, and how to reach them; what there is of it."""

    asked_by = serializers.CharField(required=False)
    purpose = serializers.CharField(required=False)
    contact = serializers.CharField(required=False)


class ToldSerializer(ToldTextsSerializer):
    retention_days = serializers.IntegerField(
        required=False, help_text="So long after the closing everything is deleted."
    )


class DesignTextsSerializer(serializers.Serializer[Any]):
    """What is asked, in another language, by the keys of the questions."""

    told = ToldTextsSerializer(required=False)
    questions = serializers.DictField(child=QuestionTextsSerializer(), required=False)


class SurveyTextsSerializer(serializers.Serializer[Any]):
    """The survey's texts outside its design, in another language."""

    title = serializers.CharField(required=False)
    introduction = serializers.CharField(required=False)


class PassesSerializer(serializers.Serializer[Any]):
    """The public key of a survey's passes, RFC 9474."""

    scheme = serializers.CharField()
    n = serializers.CharField(help_text="The modulus, big-endian, in base64url.")
    e = serializers.CharField()


class DesignSerializer(serializers.Serializer[Any]):
    hash = serializers.CharField(help_text="SHA-256 of the canonical JSON of all but this member.")
    mechanism = serializers.CharField()
    scale = serializers.IntegerField()
    epsilon = serializers.FloatField(
        help_text="What one respondent spends on the blocks that are not background."
    )
    ask = serializers.IntegerField(
        help_text="How many of the blocks that are not background one respondent is asked."
    )
    blocks = BlockSerializer(many=True)
    told = ToldSerializer(required=False, help_text="Absent where nothing of it was given.")
    translations = serializers.DictField(
        child=DesignTextsSerializer(),
        required=False,
        help_text="By language tag; absent where nothing that is asked is translated.",
    )
    passes = PassesSerializer(required=False, help_text="Where people are invited.")
    work = serializers.IntegerField(
        required=False, help_text="Bits of the proof of work that a report carries."
    )


class DefinitionSerializer(serializers.Serializer[Survey]):
    """A survey as a respondent's client needs it: protocol 1."""

    protocol = serializers.IntegerField()
    slug = serializers.CharField()
    title = serializers.CharField()
    introduction = serializers.CharField()
    language = serializers.CharField(help_text="The language tag of the survey's own texts.")
    translations = serializers.DictField(
        child=SurveyTextsSerializer(),
        help_text="Every other language of the survey, by its tag.",
    )
    state = serializers.ChoiceField(choices=["open", "closed"])
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
            "design": {"hash": survey.design_hash, **json.loads(survey.design)},
        }


class SurveySerializer(serializers.ModelSerializer[Survey]):
    """A survey in the list of those that one may read."""

    class Meta:
        model = Survey
        fields = ["slug", "title", "state", "epsilon", "crowd", "design_hash", "results_public"]
