/*
 * Every text of the checking page: French. docs/translating.md says how to write one.
 *
 * Plain data, as in static/respond/words/, with the same spaces that do not break a line. Nothing
 * here promises more than a count of runs can show.
 */

export default {
  title: "Vérifier le programme du hasard",
  lead:
    "Cette page exécute de nombreuses fois, ici dans votre navigateur, le programme qui " +
    "protège vos réponses. Elle compte ce qui en sort et le compare à ce qui a été promis.",
  example: "Vérifié ici : un exemple avec une question, et un autre avec deux questions ensemble.",
  survey: "Vérifié ici : le questionnaire « {title} ».",
  exampleQuestion: "Question d’exemple {number}",
  yes: "Oui",
  no: "Non",

  run: {
    one: "Exécuter {count} fois",
    many: "Exécuter {count} de fois",
    other: "Exécuter {count} fois",
  },
  stop: "Arrêter",
  nothingSent:
    "Pendant l’exécution, rien n’est envoyé nulle part. Le programme reçoit des réponses " +
    "inventées, jamais les vôtres.",
  progress: "Exécutions : {done} sur {all}",
  stopped: "Arrêté. Seule une vérification entière compte : il n’y a donc pas de résultat ici.",

  fitsAll: {
    one: "Il fait ce qui a été promis, pour autant que {count} exécution puisse le montrer.",
    many: "Il fait ce qui a été promis, pour autant que {count} d’exécutions puissent le montrer.",
    other: "Il fait ce qui a été promis, pour autant que {count} exécutions puissent le montrer.",
  },
  fitsNot: "Quelque chose ne correspond pas à ce qui a été promis.",
  details: "Montrer ce qui a été compté",
  back: "Revenir au questionnaire",
  runAgain:
    "Le hasard seul produit cela dans au plus 1 vérification sur {checks}, et rarement deux " +
    "fois. Recommencez donc. Si cela ne correspond toujours pas, ne répondez pas ici aux " +
    "questionnaires, et prévenez les personnes qui vous l’ont demandé.",
  block: {
    one: "Une question prise seule",
    many: "{count} de questions, protégées ensemble",
    other: "{count} questions, protégées ensemble",
  },
  together: "Combien de ces parties sont ressorties comme à l’entrée",
  fits: "Conforme à la promesse",
  misfits: "Non conforme à la promesse",
  putIn: "À l’entrée : {answers}",
  asPutIn: "Comme à l’entrée",
  otherwise: "Autre chose",
  nothing: "rien",
  notAsked: "pas demandé",
  key:
    "Les barres et les premiers chiffres montrent ce qui est sorti. Les traits et les seconds " +
    "chiffres montrent ce qui a été promis.",
  decided: "Test du khi-deux sur ces images ensemble : {p}. Sous {limit}, ce ne serait pas conforme.",
  largest: "Plus grand écart, en erreurs types : {deviation}. Cette image seule : {p}.",
  numbers: "La même chose en tableau",
  report: "Bulletin",
  counted: "Comptés",
  promised: "Promis",
  difference: "Écart en erreurs types",
  loss:
    "Part de vie privée cédée, ε : promis, au plus {promised}. Vu dans ces exécutions : au " +
    "moins {seen}, avec une confiance de 95 %.",

  limitsTitle: "Ce que cette vérification peut trouver, et ce qu’elle ne peut pas",
  sharpness:
    "Supposons que le hasard laisse plus de réponses inchangées que promis. Si c’est {shift} de " +
    "plus sur 100 réponses, cette vérification le remarque 99 fois sur 100.",
  slightly: "Si c’est 1 de plus sur 100, elle le remarque environ {often} fois sur 100.",
  limits:
    "Un défaut plus petit lui échappe souvent. Elle ne peut pas non plus en trouver un qui " +
    "n’apparaît qu’avec d’autres réponses, sur d’autres appareils ou à d’autres moments. Et " +
    "aucun nombre d’exécutions ne peut prouver que tout va bien.",

  filesTitle: "Les fichiers de ce site",
  files:
    "Le site a une liste de ses fichiers. Votre navigateur a calculé l’empreinte numérique " +
    "(SHA-256) de chaque fichier qu’il a reçu. Comparez ces empreintes à celles qu’a publiées " +
    "une personne en qui vous avez confiance.",
  stronger:
    "Un site malhonnête pourrait aussi envoyer une page de vérification malhonnête. Mieux vaut " +
    "donc la vérification avec docs/monitor.py, faite par quelqu’un d’autre, ailleurs.",
  filesAgree: {
    one: "Le fichier correspond à la liste",
    many: "Les {count} de fichiers correspondent à la liste",
    other: "Les {count} fichiers correspondent à la liste",
  },
  filesDiffer: {
    one: "{count} fichier ne correspond pas",
    many: "{count} de fichiers ne correspondent pas",
    other: "{count} fichiers ne correspondent pas",
  },
  fileList: "Montrer ce que cela veut dire, et les empreintes",
  agrees: "Correspond à la liste",
  differs: "Ne correspond pas à la liste",
  notLoaded: "N’a pas pu être chargé",
  insecure:
    "Rien n’a été comparé : à une adresse sans https, ce navigateur ne calcule pas " +
    "d’empreintes. Ce qui suit est seulement ce que le site dit lui-même.",
  noList: "La liste des fichiers n’a pas pu être chargée. On ne peut donc rien comparer.",
  copy: "Copier les empreintes",
  copied: "Copié.",

  missing:
    "Il n’y a pas de questionnaire à cette adresse. Il manque peut-être une lettre, ou il " +
    "n’est pas encore ouvert.",
  offline:
    "Le questionnaire n’a pas pu être chargé. Vérifiez votre connexion et rechargez la page.",
  outdated: "Cette page ne peut pas vérifier ce questionnaire. Rechargez la page.",
  refused: "Le programme du hasard s’est arrêté. Il indique : {error}",
};
