/*
 * Every text of the respondent's page: German. docs/translating.md says how to write one.
 *
 * Plain data: {names} in braces are filled in by words.js, and an object whose keys are plural
 * categories is chosen by its {count}.
 */

export default {
  direction: "ltr",

  title: "Umfrage",
  language: "Sprache",
  loading: "Die Umfrage wird geladen …",
  untranslated: "Die Umfrage ist nicht ganz übersetzt: Teile dieser Seite sind auf {language}.",
  testing: "Test. Nichts, was Sie hier antworten, wird gespeichert.",
  yes: "Ja",
  no: "Nein",

  share: {
    above: "mehr als {count}",
    below: "weniger als {count}",
    about: "etwa {count}",
    atMost: "höchstens etwa {count}",
    range: "{least} bis {most}",
  },

  opening: {
    all: { one: "{count} Frage.", other: "{count} Fragen." },
    some: "Vom Zufall ausgewählt aus {all}.",
    depends: "Einige werden nur nach bestimmten Antworten gestellt.",
    background: {
      one: "Danach {count} Frage zu Ihrer Person.",
      other: "Danach {count} Fragen zu Ihrer Person.",
    },
    start: "Beginnen",
    once: "Bitte antworten Sie nur einmal.",

    who: {
      title: "Wer fragt, und warum",
      asked_by: "Wer",
      purpose: "Warum",
      contact: "Kontakt",
      kept: "Dauer",
      deleted: {
        one: "Alles wird {count} Tag nach dem Ende der Umfrage gelöscht.",
        other: "Alles wird {count} Tage nach dem Ende der Umfrage gelöscht.",
      },
    },

    promise: {
      label: "Niemand kann sicher wissen, was Sie geantwortet haben.",
      who:
        "Nicht das Forschungsteam, nicht die Verantwortlichen dieser Website, kein Dieb, der " +
        "die Datenbank kopiert, kein Gericht.",
    },
    weakPromise: {
      label: "Der Schutz dieser Umfrage ist schwach.",
      who:
        "Das Forschungsteam, die Verantwortlichen dieser Website, ein Dieb, der die Datenbank " +
        "kopiert, oder ein Gericht würden nur einen Datensatz sehen. Wer ihn ganz sieht, kann " +
        "aber fast sicher sein. Machen Sie nur mit, wenn Sie auch ohne Schutz antworten würden.",
    },

    before:
      "Angenommen, für jemanden, der Sie gut kennt, steht es 50:50, dass Sie eine bestimmte " +
      "Antwort gegeben haben.",
    after:
      "Sieht diese Person dann Ihren ganzen Datensatz, kann sie in {sure} von 100 Fällen " +
      "richtigliegen.",
    afterSensitive:
      "Sieht diese Person dann Ihren Datensatz ohne die Antworten zu Ihrer Person, kann sie in " +
      "{sure} von 100 Fällen richtigliegen.",
    aboutYou:
      "Zu Ihrer Person: Auch diese Antworten kann der Zufall verändern. Wenn es für jemanden " +
      "vorher 50:50 steht, kann diese Person bei jeder davon, für sich genommen, in {sure} von " +
      "100 Fällen richtigliegen.",
    weakAboutYou:
      "Zu Ihrer Person: Auch diese Antworten kann der Zufall verändern, aber ihr Schutz ist " +
      "schwach. Wenn es für jemanden vorher 50:50 steht, kann diese Person bei jeder davon, " +
      "für sich genommen, in {sure} von 100 Fällen richtigliegen. Sie können jede dieser " +
      "Angaben ablehnen.",
    filled: "{sure} von 100: so oft kann die Person richtigliegen",
    empty: "{doubt} von 100: der Zweifel, der bleibt",
    picture: "Ein Quadrat aus 100 Punkten. Ausgefüllt: {filled}. Leer: {empty}.",

    how: {
      title: "So funktioniert es",
      answer: "Sie antworten einfach ehrlich.",
      chance:
        "Der Zufall kann Ihre Antworten verändern, bevor sie dieses Gerät verlassen. Nur das " +
        "Ergebnis, Ihr Datensatz, wird gesendet.",
      practise: "Mit einer harmlosen Frage ausprobieren",
    },

    fears: {
      known: "Kann man erkennen, was ich geantwortet habe?",
      knownReply:
        "Nicht mit Sicherheit. Zu sehen ist nur ein Datensatz, und den kann der Zufall " +
        "geschrieben haben. Ein einzelner Datensatz ist nie ein Beweis.",
      weakKnown: "Möglicherweise. Die Zahl oben sagt, wie sicher man sein kann.",
      wrong: "Kann bei mir etwas stehen, das ich nicht gewählt habe?",
      wrongReply:
        "Ja, durch Zufall kann das bei allen vorkommen. Deshalb ist ein Datensatz kein Beweis " +
        "über Sie. Für die ganze Gruppe wird die Wirkung des Zufalls wieder herausgerechnet.",
      weakWrong:
        "Ja, durch Zufall kann das vorkommen. Für die ganze Gruppe wird die Wirkung des " +
        "Zufalls wieder herausgerechnet.",
    },

    unprotected: {
      title: "Was nicht geschützt ist",
      part: "Dass Sie teilgenommen haben.",
      partText:
        "Wer Ihr Netzwerk oder dieses Gerät überwacht oder diese Website betreibt, sieht " +
        "vielleicht, dass Sie diese Seite geöffnet haben.",
      device: "Was jemand auf diesem Gerät sieht.",
      deviceText:
        "Wenn andere das Gerät verwalten oder Ihnen über die Schulter schauen, sehen sie " +
        "vielleicht, was Sie auswählen.",
      belief: "Was jemand schon über Sie zu wissen glaubt.",
      beliefText:
        "Die Zahlen oben gelten, wenn es für jemanden vorher 50:50 steht. Wer vorher fast " +
        "sicher ist, kann auch nachher fast sicher sein.",
      others: "Datensätze anderer.",
      othersText:
        "Wer die Adresse hat, kann teilnehmen, auch mehrmals. Die Ergebnisse sind also nicht " +
        "sicher vor Leuten, die Datensätze fälschen. Ihre eigenen Antworten bleiben " +
        "geschützt.",
      page: "Eine manipulierte Seite.",
      pageText:
        "Sie vertrauen dem Programm, das Ihnen diese Website geschickt hat. Der Teil, der mit " +
        "dem Zufall arbeitet, ist eine einzige kurze Datei. Alle können sie lesen, und dieser " +
        "Browser kann sie für Sie testen.",
      read: "Diese Datei lesen",
      verify: "Diese Datei testen",
    },

    detail: {
      title: "Die Wahrscheinlichkeiten im Einzelnen",
      together:
        "Alle Ihre Antworten zusammen: Wenn es für jemanden vorher 50:50 steht, kann diese " +
        "Person danach in {sure} von 100 Fällen richtigliegen.",
      sensitive:
        "Ohne die Antworten zu Ihrer Person, oder wenn jemand diese schon kennt: in {sure} von " +
        "100 Fällen.",
      alone:
        "Eine Frage mit einer einzigen Auswahl, für sich allein: Von 100 Antworten bleiben " +
        "{kept} so, wie sie gegeben wurden. Jede der übrigen ersetzt der Zufall durch eine " +
        "andere.",
      others:
        "Wenn Ihre Antworten zusammenhängen oder jemand einige davon kennt, gilt als Grenze nur " +
        "die erste Zahl.",
      design:
        "Fragen und Wahrscheinlichkeiten stehen fest, seit diese Umfrage begonnen hat. Dies " +
        "ist ihr digitaler Fingerabdruck. Er ist für alle Befragten derselbe.",
      page: "Alle Fragen und Wahrscheinlichkeiten lesen",
    },

    ledger: "Die Liste Ihrer Umfragen",
  },

  practice: {
    progress: "Übung",
    note: "Hier wird nichts gesendet und nichts gespeichert.",
    question: "Mögen Sie Regentage?",
    given: "Sie haben „{answer}“ gewählt. Der Zufall hat es 100-mal durchgespielt:",
    others: "Wenn jemand „{answer}“ wählt, ergeben 100 Versuche zum Beispiel:",
    tries: "In {yes} von 100 Datensätzen steht „Ja“, in {no} steht „Nein“.",
    picture:
      "Ein Quadrat aus 100 Punkten für 100 Datensätze. Ausgefüllt: {yes} mit „Ja“. Leer: {no} " +
      "mit „Nein“.",
    yes: "ein Datensatz mit „Ja“",
    no: "ein Datensatz mit „Nein“",
    lesson:
      "Gesendet wird immer nur ein einziger Datensatz. Ein „Ja“ kann von beiden Personen " +
      "kommen, ein „Nein“ auch. Deshalb ist ein einzelner Datensatz nie ein Beweis.",
    weakLesson:
      "Gesendet wird immer nur ein einziger Datensatz, und in dieser Umfrage zeigt er " +
      "meistens, was gewählt wurde.",
    start: "Umfrage beginnen",
  },

  /* Where people are invited: the code, and what it tells of them. */
  invited: {
    text:
      "Diese Umfrage ist nur für Eingeladene. Ihr Code steht im Link oder auf dem Blatt, das " +
      "Sie bekommen haben.",
    asks: "Wer fragt:",
    label: "Ihr Code oder der ganze Link",
    hint: "16 Buchstaben und Ziffern. Bindestriche und Kleinschreibung sind egal.",
    next: "Weiter",
    malformed: "Das ist kein ganzer Code. Er hat 16 Buchstaben und Ziffern.",
    mistyped:
      "In diesem Code ist ein Tippfehler. Vergleichen Sie ihn Zeichen für Zeichen mit Ihrer " +
      "Einladung.",
    brokenLink:
      "Dieser Link ist nicht vollständig. Öffnen oder kopieren Sie noch einmal den ganzen Link " +
      "aus Ihrer Einladung, oder tippen Sie den Code daraus ein.",
    unknown:
      "Die Website kennt diesen Code nicht. Prüfen Sie ihn. Wenn Sie eine Erinnerung " +
      "bekommen haben, nehmen Sie den neuesten Code.",
    fetching: "Ihr Ausweis wird geholt …",
    used: {
      title: "Dieser Code wurde schon benutzt",
      texts: [
        "Mit ihm wurde schon ein Ausweis geholt: auf einem anderen Gerät, in einem anderen " +
          "Browser oder von jemand anderem.",
        "Wenn Sie das waren, gehen Sie zu jenem Gerät und Browser zurück. Wenn Sie Ihren " +
          "Datensatz dort gesendet haben, danke. Sonst bitten Sie die Person, die Sie " +
          "eingeladen hat, um einen neuen Code.",
      ],
      contact: "Fragen an:",
      another: "Einen anderen Code eingeben",
    },
    known: {
      title: "Was Ihre Einladung verrät",
      can:
        "Wenn Sie auf „Beginnen“ tippen, wird Ihr Code gegen einen Ausweis getauscht. Man " +
        "kann wissen, dass Ihre Einladung dafür benutzt wurde.",
      cannot:
        "Man kann das nicht mit Ihrem Datensatz verbinden. Die Website unterschreibt Ihren " +
        "Ausweis, ohne ihn zu sehen, und er zeigt nur, dass jemand Eingeladenes den " +
        "Datensatz sendet.",
      network:
        "Wer zu dieser Zeit das Netz dieser Website beobachtet, könnte es aus dem Zeitpunkt " +
        "erraten. Nichts, was nach dem Auszählen gespeichert bleibt, verrät es.",
      same:
        "Alle Links dieser Umfrage enden mit {end}. Wenn Ihrer oder der von anderen nicht so " +
        "endet, antworten Sie nicht.",
    },
  },

  asking: {
    progress: "Frage {at} von {of}",
    aboutYou: "Zu Ihrer Person",
    note:
      "Der Zufall kann Ihre Antwort verändern, bevor sie dieses Gerät verlässt. Hier bleiben " +
      "von 100 Antworten {kept} so, wie sie gegeben wurden.",
    choose: "Bitte wählen …",
    missing: "Bitte wählen Sie eine der Antworten, um fortzufahren.",
    back: "Zurück",
    next: "Weiter",
    done: "Fertig",
    rounded:
      "Der Zufall rundet Ihre Zahl auf einen von {count} Werten von {least} bis {most}, bevor " +
      "sie dieses Gerät verlässt, und kann auch diesen Wert verändern: Von 100 bleiben " +
      "{kept}.",
    picked:
      "Ihr Gerät sendet nach Zufall nur eine der Möglichkeiten oder keine. Hier wird eine, " +
      "die Sie ankreuzen, in {picked} von 100 Fällen gesendet, eine, die Sie nicht ankreuzen, " +
      "in {other}.",
    range: "Bitte geben Sie eine ganze Zahl von {least} bis {most} ein.",
    less: "Weniger",
    more: "Mehr",
    picks: "Kreuzen Sie höchstens {picks} an, oder nichts.",
    tooMany:
      "Sie können höchstens {picks} ankreuzen. Für etwas anderes entfernen Sie bitte zuerst " +
      "ein Kreuz.",
    none: "Nichts davon",
    filler:
      "Eine neutrale Frage, damit die Dauer nicht verrät, wie viele Fragen Ihnen gestellt " +
      "wurden. Ihre Antwort wird nicht gespeichert.",
    fillers: [
      "Trinken Sie lieber Tee als Kaffee?",
      "Sind Sie lieber am Meer als in den Bergen?",
      "Stehen Sie am Wochenende früh auf?",
      "Kochen Sie gern?",
      "Mögen Sie den Sommer lieber als den Winter?",
      "Schauen Sie gern Fußball?",
    ],
  },

  review: {
    progress: "Letzter Schritt",
    title: "Prüfen und senden",
    lead:
      "Wenn Sie senden, wirkt zuerst der Zufall auf Ihre Antworten ein. Dann vergisst diese " +
      "Seite Ihre Antworten, und nur der Datensatz verlässt dieses Gerät.",
    answers: "Das kann der Zufall verändern",
    aboutYou: "Zu Ihrer Person: Auch das kann der Zufall verändern",
    change: "Ändern",
    changeNamed: "Ändern: {question}",
    send: "Senden",
  },

  sending: {
    title: "Ihr Datensatz wird gesendet …",
    text: "Das dauert einen Moment.",
    work: "Dieses Gerät rechnet zuerst ein wenig. Das macht gefälschte Datensätze langsamer.",
  },

  waiting: {
    title: "Ihr Datensatz ist noch nicht angekommen",
    offline: "Dieses Gerät ist offline.",
    busy: "Die Website ist gerade stark ausgelastet.",
    trouble: "Die Website hat gerade eine Störung.",
    silent: "Die Website hat nicht reagiert.",
    safe:
      "Es ist nichts verloren gegangen. Der Zufall hat seine Arbeit getan, und derselbe " +
      "Datensatz wird noch einmal gesendet.",
    kept:
      "Nur der Datensatz wartet auf diesem Gerät. Er wird von selbst gesendet, sobald die " +
      "Verbindung wieder da ist. Sie können diese Seite schließen. Dann wird er gesendet, wenn " +
      "Sie diese Website wieder öffnen.",
    unkept:
      "Bitte lassen Sie diese Seite geöffnet. Der Datensatz wird von selbst gesendet, sobald " +
      "die Verbindung wieder da ist.",
    again: "Jetzt noch einmal versuchen",
    drop: "Den Datensatz stattdessen löschen",
    see: "Ansehen, was gesendet wird",
  },

  thanks: {
    title: "Vielen Dank. Ihr Datensatz ist angekommen.",
    text: "Sie können diese Seite jetzt schließen.",
    once:
      "Bitte antworten Sie nur einmal. Mit einem zweiten Datensatz würden Sie doppelt gezählt, " +
      "und er würde deutlich mehr über Sie verraten.",
    resumed: "Ein Datensatz, der auf diesem Gerät gewartet hat, ist angekommen.",
    receipt: "Beleg",
    receiptText: "Das ist die Nummer Ihres Datensatzes. Sie müssen sie nicht aufbewahren.",
    see: "Ansehen, was gesendet wurde",
  },

  sent: {
    title: "Der Datensatz, an dem der Zufall mitgewirkt hat",
    text:
      "Das sind genau die Bytes. Die Zahlen unter „blocks“ sind Plätze in den Listen der " +
      "Antworten oder Stufen einer Zahl, von 0 an gezählt; null heißt: keine Antwort. In " +
      "jedem Block sind entweder alle Ihre Antworten, oder alle stammen vom Zufall.",
    pass:
      "Unter „pass“ steht Ihr Ausweis. Er zeigt, dass Sie eingeladen sind, und nicht, wer " +
      "Sie sind.",
    work:
      "Unter „work“ steht das Ergebnis der Rechnung, die gefälschte Datensätze langsamer " +
      "macht.",
    length: "Leerzeichen am Ende machen alle Datensätze dieser Umfrage gleich lang.",
  },

  /* This browser has answered already: in this tab before a reload, or in another tab. */
  answered: {
    title: "Sie haben Ihren Datensatz gesendet",
    text: "Diese Umfrage wurde hier vor Kurzem beantwortet. Es gibt nichts weiter zu tun.",
    once:
      "Mit einem zweiten Datensatz würden Sie doppelt gezählt, und er würde deutlich mehr über " +
      "Sie verraten.",
    other: "Eine andere Person möchte antworten",
  },

  kiosk: {
    idle: "Sind Sie noch da?",
    idleText:
      "In {count} Sekunden vergisst diese Seite Ihre Antworten und beginnt von vorn.",
    stay: "Ich bin noch da",
    waits: "Vielen Dank. Ihr Datensatz ist unterwegs.",
    waitsText: "Nur der Datensatz wartet auf diesem Gerät. Er wird von selbst gesendet.",
    finish: "Fertig",
    finishText: "Diese Seite beginnt für die nächste Person von selbst neu.",
  },

  ledger: {
    offer: "Möchten Sie eine Liste Ihrer Umfragen führen?",
    offerText:
      "Jede Umfrage verrät etwas über Sie, und das summiert sich. Eine Liste auf diesem Gerät " +
      "kann mitzählen. Sie enthält den Namen der Umfrage, den Tag und die verbrauchte " +
      "Privatsphäre; nie eine Antwort, nie einen Datensatz. Wer diesen Browser öffnen kann, kann " +
      "die Liste lesen.",
    keep: "Die Liste mit dieser Umfrage beginnen",
    added: "Diese Umfrage steht auf Ihrer Liste.",
    open: "Meine Liste ansehen",
    title: "Die Liste Ihrer Umfragen",
    text:
      "Diese Liste ist nur auf diesem Gerät. Sie wird nie gesendet. Die Zahl ε sagt, wie viel " +
      "Privatsphäre eine Umfrage verbraucht hat.",
    survey: "Umfrage",
    day: "Tag",
    total: "Summe",
    sure:
      "Angenommen, jemand sieht alle diese Datensätze, und vorher steht es 50:50. Wenn es in " +
      "allen um dieselbe Antwort geht, kann diese Person damit in {sure} von 100 Fällen " +
      "richtigliegen.",
    empty: "Die Liste ist leer.",
    remove: "Entfernen: {survey}",
    stop: "Die Liste löschen und nicht weiterführen",
  },

  /* Pages instead of the survey. `again` is the text of a button that starts over. */
  problems: {
    missing: {
      title: "Hier gibt es keine Umfrage",
      texts: [
        "Prüfen Sie die Adresse: Vielleicht fehlt ein Buchstabe. Vielleicht hat die Umfrage " +
          "auch noch nicht begonnen.",
        "Wenn die Adresse in einer Nachricht stand, fragen Sie die Person, die sie geschickt " +
          "hat. Von diesem Gerät wurde nichts gesendet.",
      ],
    },
    closed: {
      title: "Diese Umfrage ist beendet",
      texts: [
        "Sie nimmt keine Datensätze mehr an. Danke, dass Sie mitmachen wollten.",
        "Von diesem Gerät wurde nichts gesendet.",
      ],
    },
    offline: {
      title: "Die Umfrage konnte nicht geladen werden",
      texts: [
        "Vielleicht ist Ihr Gerät offline, oder die Website hat eine Störung.",
        "Es wurde nichts gesendet. Prüfen Sie die Verbindung und versuchen Sie es noch einmal.",
      ],
      again: "Noch einmal versuchen",
    },
    outdated: {
      title: "Diese Seite kann die Umfrage nicht durchführen",
      texts: [
        "Die Umfrage passt nicht zu dieser Seite, oder ihre Wahrscheinlichkeiten sind andere, " +
          "als sie angibt. Darum hält die Seite hier an. Es wurde nichts gesendet.",
        "Laden Sie die Seite neu. Wenn das nicht hilft, sagen Sie es der Person, von der Sie " +
          "die Adresse haben.",
      ],
      again: "Neu laden",
    },
    generator: {
      title: "Dieser Browser kann Ihre Antworten nicht schützen",
      texts: [
        "Ihm fehlt eine sichere Quelle für den Zufall. Ohne sie sendet diese Seite nichts.",
        "Bitte verwenden Sie eine aktuelle Version von Chrome, Edge, Firefox oder Safari.",
      ],
    },
    broken: {
      title: "Auf dieser Seite ist etwas schiefgegangen",
      texts: [
        "Die Seite hat angehalten und Ihre Antworten vergessen.",
        "Wenn Sie noch nicht „Senden“ gewählt hatten, wurde nichts gesendet, und Sie können " +
          "von vorn beginnen.",
      ],
      again: "Von vorn beginnen",
    },
    changed: {
      title: "Die Website hat Ihren Datensatz nicht verwendet",
      texts: [
        "Sie meldet, dass die Umfrage nicht mehr die ist, die diese Seite geladen hat, und " +
          "dass Ihr Datensatz nicht gespeichert wurde.",
        "Bitte antworten Sie nicht noch einmal: Ein zweiter Datensatz würde deutlich mehr über " +
          "Sie verraten. Sagen Sie es der Person, von der Sie die Adresse haben.",
      ],
    },
    closedMeanwhile: {
      title: "Die Umfrage ist nicht mehr offen",
      texts: [
        "Ihr Datensatz kam zu spät und wurde nicht gespeichert. Nichts als der Datensatz hat " +
          "dieses Gerät verlassen.",
        "Danke für Ihre Zeit.",
      ],
    },
    refused: {
      title: "Die Website hat Ihren Datensatz nicht angenommen",
      texts: [
        "Er wurde nicht gespeichert. Nichts als der Datensatz hat dieses Gerät verlassen.",
        "Das ist ein Fehler der Website. Bitte sagen Sie es der Person, von der Sie die " +
          "Adresse haben.",
      ],
    },
    dropped: {
      title: "Ihr Datensatz wurde gelöscht",
      texts: [
        "Er wird von diesem Gerät nicht mehr gesendet.",
        "Falls er die Website schon vorher erreicht hat, bleibt er dort. Ein zweiter würde " +
          "deutlich mehr über Sie verraten.",
      ],
    },
    otherDesign: {
      title: "Das ist nicht die Umfrage, zu der Sie eingeladen sind",
      texts: [
        "Ihre Einladung nennt eine andere Fassung dieser Umfrage, als die Website zeigt. Das " +
          "dürfte nie vorkommen, deshalb hält die Seite hier an. Nichts wurde gesendet.",
        "Bitte antworten Sie nicht. Sagen Sie es der Person, die Sie eingeladen hat.",
      ],
    },
    noPass: {
      title: "Ihr Ausweis konnte nicht geholt werden",
      texts: [
        "Die Website hat nicht geantwortet oder ist überlastet. Ihr Code ist nicht verloren: " +
          "Derselbe Ausweis kann noch einmal geholt werden.",
        "Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.",
      ],
      again: "Noch einmal versuchen",
    },
    badPass: {
      title: "Die Website hat keinen guten Ausweis gegeben",
      texts: [
        "Die Unterschrift ist nicht die dieser Umfrage. Ein solcher Ausweis könnte verraten, " +
          "wer Sie sind, deshalb hält die Seite hier an. Keine Antwort wurde gesendet.",
        "Bitte antworten Sie nicht. Sagen Sie es der Person, die Sie eingeladen hat.",
      ],
    },
  },
};
