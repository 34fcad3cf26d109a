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
  loading: "Die Umfrage wird geladen …",
  untranslated: "Teile dieser Seite sind auf {language}.",
  testing: "Test. Nichts, was Sie hier antworten, wird gespeichert.",
  yes: "Ja",
  no: "Nein",

  share: {
    above: "mehr als {count}",
    below: "weniger als {count}",
    about: "etwa {count}",
    atMost: "höchstens {count}",
    range: "{least} bis {most}",
  },

  opening: {
    who: "Wer fragt:",
    more: "Mehr lesen",
    all: { one: "{count} Frage", other: "{count} Fragen" },
    quick: "{questions}, unter einer Minute.",
    longer: "{questions}, unter {minutes} Min.",
    once: "Bitte antworten Sie nur einmal.",
    reloaded:
      "Diese Seite wurde neu geladen. Antworten werden nie gespeichert, bitte antworten Sie noch " +
      "einmal.",
    promise: "Ihr Gerät ändert Ihre Antworten manchmal zufällig, bevor es sie sendet.",
    so:
      "Wer sie sieht, kann nie sicher sein, was Sie geantwortet haben: weder die Fragenden noch " +
      "wir noch ein Gericht.",
    hardly: "Man kann es kaum erkennen.",
    guess: "Man kann es nur vermuten.",
    nearly:
      "Aber der Schutz ist schwach: Man könnte in {sure} von 100 Fällen richtigliegen. Machen " +
      "Sie nur mit, wenn Sie auch ohne ihn antworten würden.",
    less: "Angaben zur Person sind weniger geschützt: {sure} von 100.",
    managed: "Wer dieses Gerät verwaltet, kann Ihre Eingaben sehen.",
    invited:
      "Man kann sehen, dass Ihre Einladung benutzt wurde, aber nicht, welcher Datensatz von " +
      "Ihnen ist.",
    start: "Beginnen",
    how: "So funktioniert es (10 Sekunden)",
  },

  odds: {
    title: "Wie sicher kann jemand sein?",
    short: "{sure} von 100",
    say:
      "Angenommen, für jemanden steht es 50:50, ob Sie eine bestimmte Antwort gegeben haben. " +
      "Mit Ihrem Datensatz läge diese Person so oft richtig:",
    answers: "Ihre Antworten",
    you: "Jede Angabe zu Ihrer Person",
    together: "Alles, falls Ihre Antworten zusammenhängen",
    times: "in {sure} von 100 Fällen",
    either: "Ein Ja kann von beiden kommen",
    ofYes: "100 Leute, deren Antwort Ja ist: {yes} senden Ja, {no} senden Nein.",
    ofNo: "100 Leute, deren Antwort Nein ist: {yes} senden Ja, {no} senden Nein.",
    filled: "sendet Ja",
    empty: "sendet Nein",
    changed: "zufällig geändert",
    wrong:
      "Kann in Ihrem Datensatz etwas stehen, das Sie nicht gewählt haben? Ja, bei allen, deshalb " +
      "ist er kein Beweis. Im Gesamtergebnis wird es herausgerechnet.",
  },

  practice: {
    note: "Übung. Nichts wird gesendet.",
    question: "Mögen Sie Regentage?",
    said: "Sie haben geantwortet: {answer}. Diesmal würde Ihr Gerät senden: {report}.",
    again: "Noch einmal",
    tally: "Bisher: {yes} × Ja, {no} × Nein.",
  },

  unprotected: {
    title: "Was nicht geschützt ist",
    part:
      "Dass Sie teilnehmen. Ihr Netzwerk und diese Website sehen vielleicht, dass Sie diese Seite " +
      "geöffnet haben.",
    belief: "Was jemand schon über Sie zu wissen glaubt.",
    others: "Das Ergebnis, wenn Leute falsche Datensätze senden. Ihre Antworten bleiben geschützt.",
    page: "Ihre Antworten, wenn jemand diese Seite manipuliert hat. Sie können sie prüfen.",
    invited:
      "Dass Ihre Einladung benutzt wurde. Die Website unterschreibt Ihren Ausweis, ohne ihn zu " +
      "sehen. Nur die Uhrzeit könnte ihn mit Ihrem Datensatz verbinden.",
  },

  contact: {
    title: "Kontakt und Löschung",
    asked_by: "Wer",
    purpose: "Warum",
    contact: "Kontakt",
    kept: "Löschung",
    deleted: {
      one: "{count} Tag nach dem Ende der Umfrage",
      other: "{count} Tage nach dem Ende der Umfrage",
    },
  },

  check: {
    title: "Diese Seite prüfen",
    text: "Eine kurze Datei ändert Ihre Antworten zufällig. Sie können sie lesen oder testen.",
    read: "Die Datei lesen",
    verify: "Die Datei testen",
    design: "Der digitale Fingerabdruck von Fragen und Wahrscheinlichkeiten ist für alle derselbe:",
    page: "Den ganzen Aufbau lesen",
    same:
      "Alle Links zu dieser Umfrage enden mit {end}. Wenn Ihrer anders endet, antworten Sie nicht.",
  },

  /* Where people are invited. */
  invited: {
    text:
      "Diese Umfrage ist nur für Eingeladene. Ihr Code steht im Link oder auf dem Blatt, das Sie " +
      "bekommen haben.",
    label: "Ihr Code oder der ganze Link",
    hint: "16 Buchstaben und Ziffern. Bindestriche und Kleinschreibung sind egal.",
    next: "Weiter",
    malformed: "Das ist kein ganzer Code.",
    unknown:
      "Die Website kennt diesen Code nicht. Nach einer Erinnerung gilt nur der neueste Code.",
    fetching: "Ihr Ausweis wird geholt …",
    mistyped:
      "In diesem Code ist ein Tippfehler. Vergleichen Sie ihn mit Ihrer Einladung.",
    brokenLink:
      "Dieser Link ist nicht vollständig. Kopieren Sie ihn noch einmal, oder tippen Sie den Code ein.",
    used: "Dieser Code wurde schon benutzt",
    elsewhere:
      "Wenn Sie das auf einem anderen Gerät oder Browser waren, machen Sie dort " +
      "weiter. Sonst bitten Sie die Person, die Sie eingeladen hat, um einen neuen Code.",
    another: "Einen anderen Code eingeben",
  },

  asking: {
    progress: "Frage {at} von {of}",
    kept: "Geschützt: {kept} von 100 bleiben wie gegeben.",
    how: "Wie?",
    replaced:
      "Ihr Gerät ersetzt manche Antworten zufällig. Niemand sonst weiß, welche. Deshalb ist ein " +
      "Datensatz kein Beweis.",
    roundedKept: "Geschützt: gerundet, dann bleiben {kept} von 100.",
    rounded:
      "Ihr Gerät rundet die Zahl zufällig auf einen von {count} Werten von {least} bis {most} und " +
      "ersetzt manche Werte zufällig.",
    picked:
      "Geschützt: Was Sie ankreuzen, wird in {picked} von 100 Fällen gesendet, anderes in {other}.",
    one: "Ihr Gerät sendet zufällig nur eine der Möglichkeiten oder keine.",
    filler: "Wird nicht gespeichert. Verbirgt, wie viele andere Fragen Sie bekommen haben.",
    missing: "Bitte wählen Sie eine Antwort.",
    back: "Zurück",
    next: "Weiter",
    skip: "Überspringen",
    done: "Fertig",
    range: "Bitte geben Sie eine ganze Zahl von {least} bis {most} ein.",
    less: "Weniger",
    more: "Mehr",
    picks: "Kreuzen Sie höchstens {picks} an, oder nichts.",
    none: "Nichts davon",
    fillers: [
      "Trinken Sie lieber Tee als Kaffee?",
      "Sind Sie lieber am Meer als in den Bergen?",
      "Stehen Sie am Wochenende früh auf?",
    ],
  },

  review: {
    title: "Prüfen und senden",
    lead: "Ihr Gerät verwürfelt jetzt Ihre Antworten, vergisst sie und sendet einen Datensatz.",
    change: "Ändern",
    send: "Senden",
  },

  sending: {
    title: "Ihr Datensatz wird gesendet …",
    work: "Vorher eine kurze Rechnung, die Fälscher bremst.",
  },

  waiting: {
    title: "Ihr Datensatz ist noch nicht angekommen",
    offline: "Dieses Gerät ist offline.",
    busy: "Die Website ist gerade überlastet.",
    trouble: "Die Website hat gerade eine Störung.",
    kept:
      "Derselbe Datensatz wird von selbst noch einmal gesendet. Sie können diese Seite schließen.",
    unkept:
      "Derselbe Datensatz wird von selbst noch einmal gesendet. Bitte lassen Sie diese Seite " +
      "geöffnet.",
    again: "Noch einmal versuchen",
    drop: "Den Datensatz stattdessen löschen",
    see: "Was gesendet wird",
  },

  thanks: {
    title: "Vielen Dank. Ihr Datensatz ist angekommen.",
    results: "Ergebnisse erscheinen nach {count} Antworten.",
    page: "Zu den Ergebnissen",
    unpublished: "Die Fragenden sehen Ergebnisse nach {count} Antworten.",
    once: "Mit einem zweiten Datensatz würden Sie doppelt zählen und mehr über sich verraten.",
    resumed: "Ein Datensatz, der auf diesem Gerät gewartet hat, ist angekommen.",
    see: "Was gesendet wurde",
  },

  sent: {
    says: "In Ihrem Datensatz steht:",
    chance: "Alles davon kann Ihr Gerät zufällig eingesetzt haben.",
    number: "Seine Nummer:",
    text: "Die genauen Bytes:",
    pass: "„pass“ zeigt, dass Sie eingeladen sind, nicht, wer Sie sind.",
  },

  /* This browser has answered already: in this tab before a reload, or in another tab. */
  answered: {
    title: "Sie haben Ihren Datensatz gesendet",
    other: "Eine andere Person möchte antworten",
  },

  kiosk: {
    idle: "Sind Sie noch da?",
    idleText: "In {count} Sekunden vergisst diese Seite Ihre Antworten und beginnt von vorn.",
    stay: "Ich bin noch da",
    waits: "Vielen Dank. Ihr Datensatz ist unterwegs.",
  },

  ledger: {
    title: "Die Liste Ihrer Umfragen",
    offer:
      "Eine Liste auf diesem Gerät kann mitzählen, was Umfragen über Sie verraten: Titel, Tag und " +
      "verbrauchte Privatsphäre, nie eine Antwort. Wer diesen Browser benutzt, kann sie lesen.",
    keep: "Die Liste mit dieser Umfrage beginnen",
    text: "Nur auf diesem Gerät. ε ist die verbrauchte Privatsphäre.",
    survey: "Umfrage",
    day: "Tag",
    total: "Summe",
    sure:
      "Bei ein und derselben Antwort läge jemand, für den es 50:50 steht, in {sure} von 100 " +
      "Fällen richtig.",
    remove: "Entfernen: {survey}",
    stop: "Die Liste löschen",
  },

  /* Pages instead of the survey. */
  problems: {
    missing: {
      title: "Hier gibt es keine Umfrage",
      text:
        "Prüfen Sie die Adresse. Vielleicht hat die Umfrage auch noch nicht begonnen. Es wurde " +
        "nichts gesendet.",
    },
    closed: {
      title: "Diese Umfrage ist beendet",
      text: "Es wurde nichts gesendet. Danke, dass Sie mitmachen wollten.",
    },
    offline: {
      title: "Die Umfrage konnte nicht geladen werden",
      text: "Es wurde nichts gesendet. Prüfen Sie die Verbindung und versuchen Sie es noch einmal.",
    },
    outdated: {
      title: "Diese Seite kann die Umfrage nicht durchführen",
      text: "Es wurde nichts gesendet. Sagen Sie es der Person, von der Sie die Adresse haben.",
    },
    generator: {
      title: "Dieser Browser kann Ihre Antworten nicht schützen",
      text: "Es wurde nichts gesendet. Bitte nehmen Sie einen aktuellen Browser.",
    },
    broken: {
      title: "Auf dieser Seite ist etwas schiefgegangen",
      text:
        "Ihre Antworten sind vergessen. Wenn Sie noch nicht „Senden“ gewählt hatten, wurde nichts " +
        "gesendet.",
    },
    closedMeanwhile: {
      title: "Die Umfrage ist nicht mehr offen",
      text: "Ihr Datensatz kam zu spät und wurde nicht gespeichert.",
    },
    refused: {
      title: "Die Website hat Ihren Datensatz nicht angenommen",
      text:
        "Bitte antworten Sie nicht noch einmal: Ein zweiter Datensatz würde mehr über Sie " +
        "verraten. Sagen Sie es der Person, von der Sie die Adresse haben.",
    },
    dropped: {
      title: "Ihr Datensatz wurde gelöscht",
      text: "Falls er die Website schon erreicht hat, bleibt er dort.",
    },
    otherDesign: {
      title: "Das ist nicht die Umfrage, zu der Sie eingeladen sind",
      text:
        "Es wurde nichts gesendet. Bitte antworten Sie nicht. Sagen Sie es der Person, die Sie " +
        "eingeladen hat.",
    },
    noPass: {
      title: "Ihr Ausweis konnte nicht geholt werden",
      text: "Ihr Code gilt noch. Prüfen Sie die Verbindung und versuchen Sie es noch einmal.",
    },
    badPass: {
      title: "Die Website hat keinen guten Ausweis gegeben",
      text:
        "Keine Antwort wurde gesendet. Bitte antworten Sie nicht. Sagen Sie es der Person, die " +
        "Sie eingeladen hat.",
    },
  },
};
