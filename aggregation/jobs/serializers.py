"""The form of a job for the API and for the scripts of pages."""

from rest_framework import serializers
from rest_framework.reverse import reverse

from aggregation.models import Job


class JobSerializer(serializers.ModelSerializer[Job]):
    error = serializers.SerializerMethodField()
    url = serializers.SerializerMethodField()

    class Meta:
        model = Job
        fields = ["id", "state", "progress", "result", "error", "url"]
        read_only_fields = fields

    def get_error(self, job: Job) -> str | None:
        return job.error or None

    def get_url(self, job: Job) -> str:
        return reverse("api-job", [job.pk], request=self.context["request"])
