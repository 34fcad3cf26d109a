"""The tables for surveys, access, invitations, reports and the audit log.

Every method that changes several rows runs in one transaction.
"""

from survey.models.access import (
    ROLE_ACTIONS,
    Action,
    LastOwner,
    Membership,
    Role,
    Team,
    TeamMembership,
    may_design,
)
from survey.models.clock import today
from survey.models.draft import Draft, DraftRevision
from survey.models.draft_design import parse_design
from survey.models.invitation import Invitation, InvitationError, PassKey
from survey.models.log import Entry
from survey.models.question import Question
from survey.models.removed import Removed
from survey.models.report import Arrival, Recorded, Report
from survey.models.survey import NotReady, Survey, opening
from survey.models.token import MOST_TOKENS, ApiToken, TooManyTokens, digest

__all__ = [
    "ROLE_ACTIONS",
    "MOST_TOKENS",
    "ApiToken",
    "Arrival",
    "Action",
    "Draft",
    "DraftRevision",
    "Entry",
    "Invitation",
    "InvitationError",
    "LastOwner",
    "Membership",
    "NotReady",
    "PassKey",
    "Question",
    "Recorded",
    "Removed",
    "Report",
    "Role",
    "Survey",
    "Team",
    "TeamMembership",
    "TooManyTokens",
    "digest",
    "may_design",
    "opening",
    "parse_design",
    "today",
]
