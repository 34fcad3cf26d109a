/*
 * Every text of the respondent's page: French. docs/translating.md says how to write one.
 *
 * Plain data: {names} in braces are filled in by words.js, and an object whose keys are plural
 * categories is chosen by its {count}. The spaces inside « » and before : ; ? ! do not break a
 * line: U+202F, and U+00A0 before the colon.
 */

export default {
  direction: "ltr",

  title: "Questionnaire",
  language: "Langue",
  loading: "Chargement du questionnaire…",
  untranslated: "Une partie de cette page est en {language}.",
  testing: "Essai. Rien de ce que vous répondez ici n’est conservé.",
  yes: "Oui",
  no: "Non",

  share: {
    above: "plus de {count}",
    below: "moins de {count}",
    about: "environ {count}",
    atMost: "au plus {count}",
    range: "{least} à {most}",
  },

  opening: {
    who: "Questionnaire de :",
    more: "Lire la suite",
    all: { one: "{count} question", many: "{count} de questions", other: "{count} questions" },
    quick: "{questions}, moins d’une minute.",
    longer: "{questions}, moins de {minutes} min.",
    once: "Veuillez ne répondre qu’une fois.",
    reloaded:
      "Cette page a été rechargée. Les réponses ne sont jamais conservées : veuillez répondre de " +
      "nouveau.",
    promise: "Votre appareil change parfois vos réponses au hasard avant de les envoyer.",
    so:
      "Personne, en voyant cet envoi, ne peut être sûr de votre réponse : ni les responsables, " +
      "ni nous, ni un tribunal.",
    hardly: "On ne peut guère le savoir.",
    guess: "On peut le supposer, pas plus.",
    nearly:
      "Mais la protection est faible : on pourrait avoir raison {sure} fois sur 100. Ne participez " +
      "que si vous répondriez aussi sans elle.",
    less: "Les réponses qui vous décrivent sont moins protégées : {sure} sur 100.",
    managed: "La personne qui gère cet appareil peut voir ce que vous choisissez.",
    invited:
      "On peut voir que votre invitation a servi, mais pas quel bulletin est le vôtre.",
    start: "Commencer",
    how: "Comment ça marche (10 secondes)",
  },

  odds: {
    title: "À quel point peut-on être sûr ?",
    short: "{sure} sur 100",
    say:
      "Supposons que, pour quelqu’un, il y ait 50 chances sur 100 que vous ayez donné une certaine " +
      "réponse. Après avoir vu votre bulletin, cette personne aurait raison :",
    answers: "Sur ce que vous avez répondu",
    you: "Sur chaque réponse sur votre situation",
    together: "Sur tout, si vos réponses sont liées",
    times: "{sure} fois sur 100",
    either: "Un oui peut venir des deux",
    ofYes: "100 personnes dont la réponse est oui : {yes} envoient oui, {no} envoient non.",
    ofNo: "100 personnes dont la réponse est non : {yes} envoient oui, {no} envoient non.",
    filled: "envoie oui",
    empty: "envoie non",
    changed: "changé au hasard",
    wrong:
      "Votre bulletin peut-il dire autre chose que votre choix ? Oui, comme celui de tous : il " +
      "n’est donc pas une preuve. Un calcul retire cet effet des résultats du groupe.",
  },

  practice: {
    note: "Essai. Rien n’est envoyé.",
    question: "Aimez-vous les jours de pluie ?",
    said: "Vous avez répondu : {answer}. Cette fois, votre appareil enverrait : {report}.",
    again: "Encore",
    tally: "Jusqu’ici : {yes} × oui, {no} × non.",
  },

  unprotected: {
    title: "Ce qui n’est pas protégé",
    part:
      "Votre participation. Votre réseau et ce site peuvent voir que vous avez ouvert cette page.",
    belief: "Ce que quelqu’un croit déjà savoir de vous.",
    others:
      "Les résultats, si des gens envoient de faux bulletins. Vos réponses restent protégées.",
    page: "Vos réponses, si quelqu’un a modifié cette page. Vous pouvez la vérifier.",
    invited:
      "Que votre invitation a servi. Le site signe votre laissez-passer sans le voir : seule " +
      "l’heure pourrait le relier à votre bulletin.",
  },

  contact: {
    title: "Contact et effacement",
    asked_by: "Qui",
    purpose: "Pourquoi",
    contact: "Contact",
    kept: "Effacement",
    deleted: {
      one: "{count} jour après la clôture du questionnaire",
      many: "{count} de jours après la clôture du questionnaire",
      other: "{count} jours après la clôture du questionnaire",
    },
  },

  check: {
    title: "Vérifier cette page",
    text: "Un fichier très court change vos réponses au hasard. Vous pouvez le lire ou le tester.",
    read: "Lire le fichier",
    verify: "Le tester",
    design:
      "L’empreinte numérique des questions et des probabilités est la même pour tout le monde :",
    page: "Lire toute la conception",
    same:
      "Tous les liens vers ce questionnaire se terminent par {end}. Si le vôtre se termine " +
      "autrement, ne répondez pas.",
  },

  /* Where people are invited. */
  invited: {
    text:
      "Ce questionnaire est sur invitation. Votre code est dans le lien ou sur la feuille que " +
      "vous avez reçus.",
    label: "Votre code, ou le lien entier",
    hint: "16 lettres et chiffres. Les tirets et les minuscules n’ont pas d’importance.",
    next: "Continuer",
    malformed: "Ce code n’est pas complet.",
    unknown:
      "Le site ne connaît pas ce code. Après un rappel, seul le code le plus récent est valable.",
    fetching: "Votre laissez-passer arrive…",
    mistyped:
      "Il y a une faute de frappe dans ce code. Comparez-le avec votre invitation.",
    brokenLink:
      "Ce lien n’est pas complet. Copiez-le de nouveau, ou tapez le code.",
    used: "Ce code a déjà servi",
    elsewhere:
      "Si c’était vous, sur un autre appareil ou navigateur, continuez là-bas. " +
      "Sinon, demandez un nouveau code à la personne qui vous a invité.",
    another: "Taper un autre code",
  },

  asking: {
    progress: "Question {at} sur {of}",
    kept: "Protégées : {kept} sur 100 restent telles quelles.",
    how: "Comment ?",
    replaced:
      "Votre appareil remplace certaines réponses par une autre, tirée au sort. Personne d’autre " +
      "ne sait lesquelles : un bulletin n’est donc pas une preuve.",
    roundedKept: "Protégé : arrondi, puis {kept} sur 100 restent tels quels.",
    rounded:
      "Votre appareil arrondit le nombre au hasard à l’une de {count} valeurs, de {least} à " +
      "{most}, et en remplace certaines au hasard.",
    picked:
      "Protégé : ce que vous cochez est envoyé {picked} fois sur 100, le reste {other}.",
    one: "Votre appareil envoie une seule option, tirée au sort, ou aucune.",
    filler: "Non conservée. Cache combien d’autres questions vous ont été posées.",
    missing: "Veuillez choisir une réponse.",
    back: "Retour",
    next: "Suivant",
    skip: "Passer",
    done: "Terminé",
    range: "Veuillez saisir un nombre entier de {least} à {most}.",
    less: "Moins",
    more: "Plus",
    picks: "Choix possibles : {picks} au plus, ou aucun.",
    none: "Aucune",
    fillers: [
      "Préférez-vous le thé au café ?",
      "Préférez-vous la mer à la montagne ?",
      "Vous levez-vous tôt le week-end ?",
    ],
  },

  review: {
    title: "Vérifier et envoyer",
    lead: "Votre appareil brouille maintenant vos réponses, les oublie et envoie un seul bulletin.",
    change: "Modifier",
    send: "Envoyer",
  },

  sending: {
    title: "Envoi de votre bulletin…",
    work: "D’abord, un petit calcul qui freine les faussaires.",
  },

  waiting: {
    title: "Votre bulletin n’est pas encore arrivé",
    offline: "Cet appareil est hors ligne.",
    busy: "Le site est très sollicité.",
    trouble: "Le site a un problème.",
    kept: "Le même bulletin sera renvoyé tout seul. Vous pouvez fermer cette page.",
    unkept: "Le même bulletin sera renvoyé tout seul. Veuillez garder cette page ouverte.",
    again: "Réessayer",
    drop: "Supprimer plutôt le bulletin",
    see: "Ce qui sera envoyé",
  },

  thanks: {
    title: "Merci. Votre bulletin est bien arrivé.",
    results: "Les résultats paraissent après {count} réponses.",
    page: "Page des résultats",
    unpublished: "Les responsables voient des résultats après {count} réponses.",
    once: "Avec un second bulletin, vous compteriez deux fois et il en dirait plus sur vous.",
    resumed: "Un bulletin qui attendait sur cet appareil est arrivé.",
    see: "Ce qui a été envoyé",
  },

  sent: {
    says: "Votre bulletin dit :",
    chance: "Votre appareil a pu y mettre n’importe laquelle de ces réponses au hasard.",
    number: "Son numéro :",
    text: "Les octets exacts :",
    pass: "« pass » montre que vous êtes une personne invitée, pas qui vous êtes.",
  },

  /* This browser has answered already: in this tab before a reload, or in another tab. */
  answered: {
    title: "Vous avez envoyé votre bulletin",
    other: "Une autre personne veut répondre",
  },

  kiosk: {
    idle: "Êtes-vous toujours là ?",
    idleText: "Dans {count} secondes, cette page oublie vos réponses et recommence.",
    stay: "Je suis toujours là",
    waits: "Merci. Votre bulletin est en route.",
  },

  ledger: {
    title: "La liste de vos questionnaires",
    offer:
      "Une liste sur cet appareil peut additionner ce que les questionnaires disent de vous : " +
      "titre, jour et part de vie privée cédée, jamais une réponse. Qui utilise ce navigateur " +
      "peut la lire.",
    keep: "Commencer la liste avec ce questionnaire",
    text: "Seulement sur cet appareil. ε est la part de vie privée cédée.",
    survey: "Questionnaire",
    day: "Jour",
    total: "Total",
    sure: "Sur une même réponse, qui part de 50 sur 100 aurait raison {sure} fois sur 100.",
    remove: "Retirer : {survey}",
    stop: "Supprimer la liste",
  },

  /* Pages instead of the survey. */
  problems: {
    missing: {
      title: "Il n’y a pas de questionnaire ici",
      text:
        "Vérifiez l’adresse. Le questionnaire n’est peut-être pas encore ouvert. Rien n’a été " +
        "envoyé.",
    },
    closed: {
      title: "Ce questionnaire est fermé",
      text: "Rien n’a été envoyé. Merci d’avoir voulu participer.",
    },
    offline: {
      title: "Le questionnaire n’a pas pu être chargé",
      text: "Rien n’a été envoyé. Vérifiez votre connexion et réessayez.",
    },
    outdated: {
      title: "Cette page ne peut pas présenter ce questionnaire",
      text: "Rien n’a été envoyé. Prévenez la personne qui vous a donné l’adresse.",
    },
    generator: {
      title: "Ce navigateur ne peut pas protéger vos réponses",
      text: "Rien n’a été envoyé. Veuillez utiliser un navigateur récent.",
    },
    broken: {
      title: "Un problème est survenu sur cette page",
      text:
        "Vos réponses sont oubliées. Si vous n’aviez pas encore choisi « Envoyer », rien n’a été " +
        "envoyé.",
    },
    closedMeanwhile: {
      title: "Le questionnaire n’est plus ouvert",
      text: "Votre bulletin est arrivé trop tard et n’a pas été enregistré.",
    },
    refused: {
      title: "Le site n’a pas accepté votre bulletin",
      text:
        "Veuillez ne pas répondre de nouveau : un second bulletin en dirait plus sur vous. " +
        "Prévenez la personne qui vous a donné l’adresse.",
    },
    dropped: {
      title: "Votre bulletin a été supprimé",
      text: "S’il était déjà arrivé sur le site, il y reste.",
    },
    otherDesign: {
      title: "Ce n’est pas le questionnaire auquel on vous a invité",
      text:
        "Rien n’a été envoyé. Veuillez ne pas répondre. Prévenez la personne qui vous a invité.",
    },
    noPass: {
      title: "Votre laissez-passer n’a pas pu être obtenu",
      text: "Votre code reste valable. Vérifiez votre connexion et réessayez.",
    },
    badPass: {
      title: "Le site n’a pas donné de laissez-passer valable",
      text:
        "Aucune réponse n’a été envoyée. Veuillez ne pas répondre. Prévenez la personne qui vous " +
        "a invité.",
    },
  },
};
