"""English texts of the server's public pages and of invitations. See docs/translating.md."""

TEXTS = {
    "page": {
        "skip": "Skip to content",
        "languages": "Language",
        "surveys": "Go to your surveys",
    },
    # How a report protects a person. Which of `grades` is true depends on ε: survey/design/odds.py.
    "protection": {
        "title": "How answers are protected",
        "change": "Your phone or computer sometimes changes your answers at random before sending "
        "them.",
        "nobody": "Nobody who sees what you send can be sure what you answered.",
        "grades": {
            "hardly": "They can hardly tell.",
            "guess": "They can guess, but not be sure.",
            "nearly": "But they can be nearly sure: this protection is weak.",
        },
        "background": "This is about the sensitive questions. The questions about yourself have "
        "odds of their own.",
        "odds": "Someone who thinks it is 50:50 that you gave a certain answer can be {sure} sure "
        "after seeing your report.",
        "odds_without_background": "Someone who thinks it is 50:50 that you gave a certain answer "
        "can be {sure} sure after seeing your report without the answers about yourself.",
        "at_most": "at most about {count} in 100",
        "above": "more than 99 in 100",
    },
    "access": {
        "invited": "Only invited people can answer, once each: every report needs a pass, and each "
        "pass works once. Nothing that is stored connects a pass with an invitation.",
        "open": "Anyone with the address can send reports, even more than one, so this survey is "
        "not safe from manipulation.",
        "work": "A proof of work makes many forged reports slower, not impossible.",
        "forged": "For every 1 in 100 reports that is forged, an estimate can move by up to "
        "{points} percentage points.",
    },
    "results": {
        "title": "{title}: results",
        "asked_by": "Who asked",
        "responses": "Responses counted",
        "still_open": "As of {date}. The survey is still open, so this may change.",
        "closed": "The survey is closed. These are its final results.",
        "share": "About {value} in 100 (probably {low} to {high})",
        "share_low": "Probably fewer than {high} in 100",
        "share_high": "Probably more than {low} in 100",
        "mean": "About {value} (probably {low} to {high})",
        "mean_low": "Probably less than {high}",
        "mean_high": "Probably more than {low}",
        "too_few": "Too few answers to say anything",
        "average": "On average",
        "average_picks": "Choices per person, on average",
        "several": "People could choose more than one.",
        "concerned": "Among the people who were asked this, because they answered {options} to "
        "{question}:",
        "probably": "“Probably” means: for a survey like this one, such a range is right at least "
        "95 times in 100.",
        "removed": "It is known how often answers are changed, though not which ones. So the "
        "effect can be taken out of many reports together. That is why the results are estimates.",
        "groups": "Results by group",
        "everybody": "Everybody",
        "researchers": "For researchers",
        "nothing": "There are no results yet",
        "appear": {
            "one": "Results appear once {count} person has answered.",
            "other": "Results appear once {count} people have answered.",
        },
        "never": {
            "one": "This survey closed with fewer than {count} response. That is too few to "
            "publish safely, so nothing is shown.",
            "other": "This survey closed with fewer than {count} responses. That is too few to "
            "publish safely, so nothing is shown.",
        },
        "design": "How this survey works",
    },
    "design": {
        "title": "{title}: design",
        "kind": "How this survey works, fixed when it opened",
        "state": "State",
        "states": {"open": "Open", "closed": "Closed", "archived": "Archived"},
        "opened": "Opened",
        "ended": "Closed",
        "epsilon": "ε of the sensitive answers",
        "report_epsilon": "ε of the whole report",
        "who": "Who asks, and why",
        "asked_by": "Who asks",
        "purpose": "Why",
        "contact": "Questions to",
        "not_said": "This survey does not say.",
        "deleted_on": "Everything about this survey is deleted on {date}.",
        "deleted_after": {
            "one": "Everything about this survey is deleted {count} day after it closes.",
            "other": "Everything about this survey is deleted {count} days after it closes.",
        },
        "kept": "Reports and results are not deleted automatically.",
        "who_may": "Who may answer",
        "ending": "Every link to it ends with {end}. If your link ends differently, do not answer.",
        "questions": "Questions and chance",
        "asked_some": "Each person is asked only some of the blocks of questions: {ask} of {all}, "
        "chosen at random on their own device.",
        "asked_all": "Everyone is asked every question.",
        "block": "Block {key}",
        "background": "Questions about yourself",
        "background_text": "Everyone is asked these. These answers may be changed too, each with "
        "its own ε. If they are related to the sensitive answers, someone who does not know them "
        "can learn more: only the ε of the whole report limits that.",
        "only_after": "Only asked after {options} to {question}.",
        "number": "A whole number from {least} to {most}, which the device rounds at random to one "
        "of {count} values.",
        "odds": "If 100 people give the same answer, about {true} of their reports say it, and "
        "about {false} say each other answer.",
        "odds_of_two": "If 100 people give the same answer, about {true} of their reports say it, "
        "and about {false} say the other.",
        "odds_of_picks": "Up to {picks} may be picked, and a report says one of them or none. If "
        "100 people pick an option, about {true} of their reports say it. If they do not, about "
        "{false} do.",
        "range": "{least} to {most}",
        "in_language": "In another language: {language}",
        "check": "Check it",
        "fingerprint": "This is the digital fingerprint of the design. It is on the survey’s page "
        "and in every report. Changing one letter of a question, an option, the odds or who is "
        "asking would change it.",
        "download": "Download the design",
        "compute": "Then compute its SHA-256 yourself, for example:",
        "command": "The command",
        "not_included": "The title and introduction are fixed too, but are not part of the "
        "fingerprint.",
        "test": "Test the randomizer in this browser",
        "answer": "Answer the survey",
        "results": "Read the results",
    },
    "errors": {
        "bad_request": {"title": "This request is not valid", "text": "Nothing was changed."},
        "forbidden": {
            "title": "You don’t have access to this page",
            "text": "Your role does not allow this. Ask the owner of the survey or an "
            "administrator.",
        },
        "csrf": {
            "title": "Please try again",
            "text": "The form was open for too long or came from another page. Nothing was "
            "changed. Go back, reload the page and send the form again.",
        },
        "not_found": {
            "title": "Page not found",
            "text": "Check the address. The page may also have been removed.",
        },
        "server_error": {
            "title": "Something went wrong",
            "text": "The problem is on our side, and nothing was changed. Please try again in a "
            "moment.",
        },
        "too_often": {
            "title": "Too many requests",
            "text": {
                "one": "Please wait {count} second.",
                "other": "Please wait {count} seconds.",
            },
        },
        "no_results": {
            "title": "No results are public here",
            "text": "The address may be wrong, or whoever asks has not made the results public.",
            "link": "If you run this survey, open its dashboard",
        },
    },
    # Shown only where the scripts cannot run, in all languages at once.
    "shell": {
        "no_script": "This survey needs JavaScript",
        "no_script_text": "It changes answers at random on this device before anything is sent. "
        "Allow it for this page, then reload. Nothing was sent.",
        "late": "The survey is not starting",
        "late_text": "Reload the page, or use a current Chrome, Edge, Firefox or Safari. Nothing "
        "was sent.",
        "check_no_script": "This check needs JavaScript",
        "check_late": "The check is not starting",
    },
    "letter": {
        "subject": "Your invitation to a survey",
        "subject_again": "A reminder: your invitation to a survey",
        "hello": "Hello,",
        "invited": "you are invited to take part in a survey: “{title}”.",
        "again": "this is a reminder of a survey: “{title}”. The link that you got before does not "
        "work any more; this one does.",
        "asked_by": "Who asks",
        "purpose": "Why",
        "contact": "Questions to",
        "once": "The link is for you alone and works once.",
        "stored": "They can see that your invitation was used, but not which report is yours.",
        "nothing": "If you do not want to take part, do nothing.",
        "scan": "Scan the picture, or open",
        "type": "and type",
        "card": "For one person, once. They can see that this code was used, but not which report "
        "is yours.",
    },
}
