/*
 * Every text of the checking page: German. docs/translating.md says how to write one.
 *
 * Plain data, as in static/respond/words/. Nothing here promises more than a count of runs can
 * show.
 */

export default {
  title: "Das Zufallsprogramm prüfen",
  lead:
    "Diese Seite führt das Programm, das Ihre Antworten schützt, viele Male aus, hier in Ihrem " +
    "Browser. Sie zählt, was herauskommt, und vergleicht es mit dem, was versprochen wurde.",
  example: "Hier wird geprüft: ein Beispiel mit einer Frage und eines mit zwei Fragen zusammen.",
  survey: "Hier wird geprüft: die Umfrage „{title}“.",
  exampleQuestion: "Beispielfrage {number}",
  yes: "Ja",
  no: "Nein",

  run: "{count}-mal ausführen",
  stop: "Anhalten",
  nothingSent:
    "Während es läuft, wird nirgendwohin etwas gesendet. Verwendet werden erfundene Antworten, " +
    "nie Ihre.",
  progress: "{done} von {all} Durchläufen",
  stopped: "Angehalten. Nur eine ganze Prüfung zählt, deshalb steht hier kein Ergebnis.",

  fitsAll: "Es hält, was versprochen wurde, soweit {count} Durchläufe das zeigen können.",
  fitsNot: "Etwas passt nicht zu dem, was versprochen wurde.",
  details: "Zeigen, was gezählt wurde",
  back: "Zurück zur Umfrage",
  runAgain:
    "Der Zufall allein bewirkt das in höchstens 1 von {checks} Prüfungen, und selten zweimal. " +
    "Prüfen Sie deshalb noch einmal. Passt es wieder nicht, dann beantworten Sie hier keine " +
    "Umfragen, und sagen Sie es denen, die Sie darum gebeten haben.",
  block: { one: "Eine Frage für sich allein", other: "{count} Fragen, zusammen geschützt" },
  together: "Wie viele dieser Teile so herauskamen, wie sie eingegeben wurden",
  fits: "Passt zum Versprechen",
  misfits: "Passt nicht zum Versprechen",
  putIn: "Eingegeben: {answers}",
  asPutIn: "Wie eingegeben",
  otherwise: "Etwas anderes",
  nothing: "nichts",
  notAsked: "nicht gefragt",
  key:
    "Balken und erste Zahlen zeigen, was herauskam. Striche und zweite Zahlen zeigen, was " +
    "versprochen wurde.",
  decided: "Chi-Quadrat-Test über diese Bilder zusammen: {p}. Unter {limit} würde es nicht passen.",
  largest: "Größte Abweichung: {deviation} Standardfehler. Dieses Bild allein: {p}.",
  numbers: "Dasselbe als Tabelle",
  report: "Datensatz",
  counted: "Gezählt",
  promised: "Versprochen",
  difference: "Abstand in Standardfehlern",
  loss:
    "Verlust an Privatsphäre ε: versprochen höchstens {promised}. In diesen Durchläufen " +
    "gesehen: mindestens {seen}, mit 95 % Sicherheit.",

  limitsTitle: "Was diese Prüfung finden kann und was nicht",
  sharpness:
    "Angenommen, der Zufall lässt mehr Antworten unverändert als versprochen. Sind es {shift} " +
    "von 100 Antworten mehr, bemerkt diese Prüfung das in 99 von 100 Versuchen.",
  slightly: "Ist es 1 von 100 mehr, bemerkt sie es in etwa {often} von 100.",
  limits:
    "Einen kleineren Fehler übersieht sie oft. Sie kann auch keinen finden, der sich nur bei " +
    "anderen Antworten, auf anderen Geräten oder zu anderen Zeiten zeigt. Und keine Zahl von " +
    "Durchläufen kann beweisen, dass alles in Ordnung ist.",

  filesTitle: "Die Dateien dieser Website",
  files:
    "Die Website hat eine Liste ihrer Dateien. Ihr Browser hat den digitalen Fingerabdruck " +
    "(SHA-256) jeder Datei berechnet, die er bekommen hat. Vergleichen Sie diese " +
    "Fingerabdrücke mit denen, die jemand veröffentlicht hat, dem Sie vertrauen.",
  stronger:
    "Eine unehrliche Website könnte auch eine unehrliche Prüfseite senden. Stärker ist deshalb " +
    "die Prüfung mit docs/monitor.py, von jemand anderem, an einem anderen Ort.",
  filesAgree: {
    one: "Die Datei stimmt mit der Liste überein",
    other: "Alle {count} Dateien stimmen mit der Liste überein",
  },
  filesDiffer: {
    one: "{count} Datei stimmt nicht überein",
    other: "{count} Dateien stimmen nicht überein",
  },
  fileList: "Zeigen, was das bedeutet, und die Fingerabdrücke",
  agrees: "Stimmt mit der Liste überein",
  differs: "Weicht von der Liste ab",
  notLoaded: "Konnte nicht geladen werden",
  insecure:
    "Es wurde nichts verglichen: Bei einer Adresse ohne https berechnet dieser Browser keine " +
    "Fingerabdrücke. Was folgt, sind nur die eigenen Angaben der Website.",
  noList:
    "Die Liste der Dateien konnte nicht geladen werden. Deshalb lässt sich nichts vergleichen.",
  copy: "Die Fingerabdrücke kopieren",
  copied: "Kopiert.",

  missing:
    "Unter dieser Adresse gibt es keine Umfrage. Vielleicht fehlt ein Buchstabe, oder sie hat " +
    "noch nicht begonnen.",
  offline:
    "Die Umfrage konnte nicht geladen werden. Prüfen Sie die Verbindung und laden Sie die " +
    "Seite neu.",
  outdated: "Diese Seite kann diese Umfrage nicht prüfen. Laden Sie die Seite neu.",
  refused: "Das Zufallsprogramm hat angehalten. Es meldet: {error}",
};
