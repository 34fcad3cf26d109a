"""German texts of the server's public pages and of invitations. See docs/translating.md."""

TEXTS = {
    "page": {
        "skip": "Zum Inhalt",
        "languages": "Sprache",
        "surveys": "Zu Ihren Umfragen",
    },
    "protection": {
        "title": "So sind die Antworten geschützt",
        "change": "Ihr Handy oder Computer ändert Ihre Antworten vor dem Senden manchmal zufällig.",
        "nobody": "Wer sieht, was Sie senden, kann nicht sicher sein, was Sie geantwortet haben.",
        "grades": {
            "hardly": "Man kann es daraus kaum erkennen.",
            "guess": "Man kann es vermuten, aber nicht sicher sein.",
            "nearly": "Man kann aber fast sicher sein: Dieser Schutz ist schwach.",
        },
        "background": "Das gilt für die heiklen Fragen. Für die Fragen zu Ihrer Person gelten "
        "eigene Zahlen.",
        "odds": "Wenn es für jemanden 50:50 steht, ob Sie eine bestimmte Antwort gegeben haben, "
        "kann diese Person mit Ihrem Datensatz in {sure} richtigliegen.",
        "odds_without_background": "Wenn es für jemanden 50:50 steht, ob Sie eine bestimmte "
        "Antwort gegeben haben, kann diese Person mit Ihrem Datensatz ohne die Antworten zu Ihrer "
        "Person in {sure} richtigliegen.",
        "at_most": "höchstens etwa {count} von 100 Fällen",
        "above": "mehr als 99 von 100 Fällen",
    },
    "access": {
        "invited": "Nur Eingeladene können antworten, und zwar einmal: Jeder Datensatz braucht "
        "einen Ausweis, und jeder Ausweis gilt einmal. Nichts, was gespeichert wird, verbindet "
        "einen Ausweis mit einer Einladung.",
        "open": "Wer die Adresse hat, kann Datensätze senden, auch mehrere. Diese Umfrage ist also "
        "nicht vor Manipulation sicher.",
        "work": "Eine Rechenaufgabe macht viele gefälschte Datensätze langsamer, aber nicht "
        "unmöglich.",
        "forged": "Je 1 von 100 gefälschten Datensätzen kann eine Schätzung um bis zu {points} "
        "Prozentpunkte verschieben.",
    },
    "results": {
        "title": "{title}: Ergebnisse",
        "asked_by": "Wer gefragt hat",
        "responses": "Gezählte Antworten",
        "still_open": "Stand: {date}. Die Umfrage läuft noch, die Zahlen können sich also ändern.",
        "closed": "Die Umfrage ist beendet. Das sind ihre endgültigen Ergebnisse.",
        "share": "Etwa {value} von 100 (wahrscheinlich {low} bis {high})",
        "share_low": "Wahrscheinlich weniger als {high} von 100",
        "share_high": "Wahrscheinlich mehr als {low} von 100",
        "mean": "Etwa {value} (wahrscheinlich {low} bis {high})",
        "mean_low": "Wahrscheinlich weniger als {high}",
        "mean_high": "Wahrscheinlich mehr als {low}",
        "too_few": "Zu wenige Antworten, um etwas zu sagen",
        "average": "Im Durchschnitt",
        "average_picks": "Auswahl pro Person, im Durchschnitt",
        "several": "Man konnte mehr als eine Antwort wählen.",
        "concerned": "Unter den Befragten, die das gefragt wurden, weil sie {options} auf "
        "{question} geantwortet haben:",
        "probably": "„Wahrscheinlich“ heißt: Bei einer Umfrage wie dieser stimmt so ein Bereich in "
        "mindestens 95 von 100 Fällen.",
        "removed": "Bekannt ist, wie oft Antworten geändert werden, aber nicht, welche. Deshalb "
        "lässt sich der Effekt aus vielen Datensätzen zusammen herausrechnen, und die Ergebnisse "
        "sind Schätzungen.",
        "groups": "Ergebnisse nach Gruppen",
        "everybody": "Alle",
        "researchers": "Für die Forschung (auf Englisch)",
        "nothing": "Noch gibt es keine Ergebnisse",
        "appear": {
            "one": "Ergebnisse erscheinen, sobald {count} Person geantwortet hat.",
            "other": "Ergebnisse erscheinen, sobald {count} Personen geantwortet haben.",
        },
        "never": {
            "one": "Diese Umfrage endete mit weniger als {count} Antwort. Das ist zu wenig, um "
            "sicher etwas zu veröffentlichen. Deshalb wird nichts gezeigt.",
            "other": "Diese Umfrage endete mit weniger als {count} Antworten. Das ist zu wenig, um "
            "sicher etwas zu veröffentlichen. Deshalb wird nichts gezeigt.",
        },
        "design": "So funktioniert diese Umfrage",
    },
    "design": {
        "title": "{title}: Aufbau",
        "kind": "So funktioniert diese Umfrage, festgelegt bei ihrem Beginn",
        "state": "Stand",
        "states": {"open": "Läuft", "closed": "Beendet", "archived": "Archiviert"},
        "opened": "Begonnen",
        "ended": "Beendet",
        "epsilon": "ε der heiklen Antworten",
        "report_epsilon": "ε des ganzen Datensatzes",
        "who": "Wer fragt, und warum",
        "asked_by": "Wer fragt",
        "purpose": "Warum",
        "contact": "Fragen an",
        "not_said": "Diese Umfrage sagt das nicht.",
        "deleted_on": "Alles zu dieser Umfrage wird am {date} gelöscht.",
        "deleted_after": {
            "one": "Alles wird {count} Tag nach dem Ende der Umfrage gelöscht.",
            "other": "Alles wird {count} Tage nach dem Ende der Umfrage gelöscht.",
        },
        "kept": "Datensätze und Ergebnisse werden nicht von selbst gelöscht.",
        "who_may": "Wer antworten darf",
        "ending": "Alle Links zu ihr enden mit {end}. Wenn Ihrer anders endet, antworten Sie "
        "nicht.",
        "questions": "Fragen und Zufall",
        "asked_some": "Jede Person bekommt nur einen Teil der Fragenblöcke: {ask} von {all}, "
        "zufällig ausgewählt auf dem eigenen Gerät.",
        "asked_all": "Alle bekommen alle Fragen.",
        "block": "Block {key}",
        "background": "Fragen zu Ihrer Person",
        "background_text": "Diese Fragen bekommen alle. Auch diese Antworten können geändert "
        "werden, jede mit ihrem eigenen ε. Wenn sie mit den heiklen zusammenhängen, kann jemand, "
        "der sie nicht kennt, mehr erfahren: Nur das ε des ganzen Datensatzes begrenzt das.",
        "only_after": "Nur nach {options} auf {question}.",
        "number": "Eine ganze Zahl von {least} bis {most}, die das Gerät zufällig auf einen von "
        "{count} Werten rundet.",
        "odds": "Wenn 100 Personen dieselbe Antwort geben, steht sie in etwa {true} ihrer "
        "Datensätze und jede andere in etwa {false}.",
        "odds_of_two": "Wenn 100 Personen dieselbe Antwort geben, steht sie in etwa {true} ihrer "
        "Datensätze und die andere in etwa {false}.",
        "odds_of_picks": "Man darf bis zu {picks} wählen, und ein Datensatz nennt davon eine oder "
        "keine. Wenn 100 Personen eine Möglichkeit wählen, steht sie in etwa {true} ihrer "
        "Datensätze, sonst in etwa {false}.",
        "range": "{least} bis {most}",
        "in_language": "In einer anderen Sprache: {language}",
        "check": "Selbst prüfen",
        "fingerprint": "Das ist der digitale Fingerabdruck des Aufbaus. Er steht auf der Seite der "
        "Umfrage und in jedem Datensatz. Ein geänderter Buchstabe in einer Frage, einer Antwort, "
        "den Zahlen oder den Angaben, wer fragt, würde ihn ändern.",
        "download": "Den Aufbau herunterladen",
        "compute": "Berechnen Sie dann selbst seinen SHA-256, zum Beispiel so:",
        "command": "Der Befehl",
        "not_included": "Titel und Einleitung sind auch festgelegt, gehören aber nicht zum "
        "Fingerabdruck.",
        "test": "Das Zufallsprogramm in diesem Browser prüfen",
        "answer": "An der Umfrage teilnehmen",
        "results": "Die Ergebnisse lesen",
    },
    "errors": {
        "bad_request": {"title": "Diese Anfrage ist ungültig", "text": "Es wurde nichts geändert."},
        "forbidden": {
            "title": "Sie haben keinen Zugang zu dieser Seite",
            "text": "Ihre Rolle erlaubt das nicht. Fragen Sie die Person, der die Umfrage gehört, "
            "oder die Verwaltung der Website.",
        },
        "csrf": {
            "title": "Bitte versuchen Sie es noch einmal",
            "text": "Das Formular war zu lange offen oder kam von einer anderen Seite. Es wurde "
            "nichts geändert. Gehen Sie zurück, laden Sie die Seite neu und senden Sie das "
            "Formular noch einmal.",
        },
        "not_found": {
            "title": "Seite nicht gefunden",
            "text": "Prüfen Sie die Adresse. Vielleicht wurde die Seite auch entfernt.",
        },
        "server_error": {
            "title": "Etwas ist schiefgegangen",
            "text": "Der Fehler liegt bei uns, und es wurde nichts geändert. Bitte versuchen Sie "
            "es gleich noch einmal.",
        },
        "too_often": {
            "title": "Zu viele Anfragen",
            "text": {
                "one": "Bitte warten Sie {count} Sekunde.",
                "other": "Bitte warten Sie {count} Sekunden.",
            },
        },
        "no_results": {
            "title": "Hier sind keine Ergebnisse öffentlich",
            "text": "Vielleicht ist die Adresse falsch, oder die Ergebnisse wurden nicht "
            "veröffentlicht.",
            "link": "Wenn Sie diese Umfrage leiten, öffnen Sie ihre Übersicht",
        },
    },
    "shell": {
        "no_script": "Diese Umfrage braucht JavaScript",
        "no_script_text": "Es ändert Antworten zufällig auf diesem Gerät, bevor etwas gesendet "
        "wird. Erlauben Sie es für diese Seite und laden Sie sie neu. Es wurde nichts gesendet.",
        "late": "Die Umfrage startet nicht",
        "late_text": "Laden Sie die Seite neu, oder nehmen Sie einen aktuellen Chrome, Edge, "
        "Firefox oder Safari. Es wurde nichts gesendet.",
        "check_no_script": "Diese Prüfung braucht JavaScript",
        "check_late": "Die Prüfung startet nicht",
    },
    "letter": {
        "subject": "Ihre Einladung zu einer Umfrage",
        "subject_again": "Erinnerung: Ihre Einladung zu einer Umfrage",
        "hello": "Guten Tag,",
        "invited": "Sie sind zu einer Umfrage eingeladen: „{title}“.",
        "again": "wir erinnern Sie an eine Umfrage: „{title}“. Der Link von vorher gilt nicht "
        "mehr, nur noch dieser hier.",
        "asked_by": "Wer fragt",
        "purpose": "Warum",
        "contact": "Fragen an",
        "once": "Der Link ist nur für Sie und gilt einmal.",
        "stored": "Man kann sehen, dass Ihre Einladung benutzt wurde, aber nicht, welcher "
        "Datensatz von Ihnen ist.",
        "nothing": "Wenn Sie nicht teilnehmen möchten, brauchen Sie nichts zu tun.",
        "scan": "Scannen Sie das Bild, oder öffnen Sie",
        "type": "und geben Sie ein",
        "card": "Für eine Person, einmal. Man kann sehen, dass dieser Code benutzt wurde, aber "
        "nicht, welcher Datensatz von Ihnen ist.",
    },
}
