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
  untranslated:
    "Le questionnaire n’est pas entièrement traduit : une partie de cette page est en {language}.",
  testing: "Essai. Rien de ce que vous répondez ici n’est conservé.",
  yes: "Oui",
  no: "Non",

  share: {
    above: "plus de {count}",
    below: "moins de {count}",
    about: "environ {count}",
    atMost: "au plus environ {count}",
    range: "{least} à {most}",
  },

  opening: {
    all: {
      one: "{count} question.",
      many: "{count} de questions.",
      other: "{count} questions.",
    },
    some: "Choix au hasard parmi {all}.",
    depends: "Certaines ne sont posées qu’après certaines réponses.",
    background: {
      one: "Puis {count} question sur votre situation.",
      many: "Puis {count} de questions sur votre situation.",
      other: "Puis {count} questions sur votre situation.",
    },
    start: "Commencer",
    once: "Veuillez ne répondre qu’une fois.",

    who: {
      title: "Qui demande, et pourquoi",
      asked_by: "Qui",
      purpose: "Pourquoi",
      contact: "Contact",
      kept: "Durée",
      deleted: {
        one: "Tout est effacé {count} jour après la clôture du questionnaire.",
        many: "Tout est effacé {count} de jours après la clôture du questionnaire.",
        other: "Tout est effacé {count} jours après la clôture du questionnaire.",
      },
    },

    promise: {
      label: "Personne ne peut savoir avec certitude ce que vous avez répondu.",
      who:
        "Ni l’équipe de recherche, ni les responsables de ce site, ni un voleur qui copierait " +
        "la base de données, ni un tribunal.",
    },
    weakPromise: {
      label: "La protection de ce questionnaire est faible.",
      who:
        "L’équipe de recherche, les responsables de ce site, un voleur qui copierait la base de " +
        "données ou un tribunal ne verraient qu’un bulletin. Mais une personne qui le voit en " +
        "entier peut être presque sûre. Ne participez que si vous répondriez aussi sans " +
        "protection.",
    },

    before:
      "Supposons que, pour quelqu’un qui vous connaît bien, il y ait 50 chances sur 100 que vous " +
      "ayez donné une certaine réponse.",
    after:
      "Après avoir vu tout votre bulletin, cette personne peut avoir raison dans {sure} cas " +
      "sur 100.",
    afterSensitive:
      "Après avoir vu votre bulletin sans les réponses sur votre situation, cette personne peut " +
      "avoir raison dans {sure} cas sur 100.",
    aboutYou:
      "Votre situation : le hasard peut aussi changer ces réponses. Pour chacune prise seule, " +
      "une personne qui part de 50 chances sur 100 peut avoir raison dans {sure} cas sur 100.",
    weakAboutYou:
      "Votre situation : le hasard peut aussi changer ces réponses, mais leur protection est " +
      "faible. Pour chacune prise seule, une personne qui part de 50 chances sur 100 peut " +
      "avoir raison dans {sure} cas sur 100. Vous pouvez choisir de ne pas le dire.",
    filled: "{sure} sur 100 : les cas où cette personne peut avoir raison",
    empty: "{doubt} sur 100 : le doute qui reste",
    picture: "Un carré de 100 points. Pleins : {filled}. Vides : {empty}.",

    how: {
      title: "Comment cela fonctionne",
      answer: "Vous répondez sincèrement.",
      chance:
        "Le hasard peut changer vos réponses avant qu’elles quittent cet appareil. Seul le " +
        "résultat, votre bulletin, est envoyé.",
      practise: "Essayer avec une question anodine",
    },

    fears: {
      known: "Peut-on savoir ce que j’ai répondu ?",
      knownReply:
        "Pas avec certitude. On ne voit qu’un bulletin, et c’est peut-être le hasard qui l’a " +
        "écrit. Un bulletin isolé n’est jamais une preuve.",
      weakKnown: "C’est possible. Le chiffre ci-dessus dit à quel point on peut être sûr.",
      wrong: "Mon bulletin peut-il dire autre chose que ce que j’ai choisi ?",
      wrongReply:
        "Oui, par hasard, cela peut arriver à tout le monde. C’est pourquoi un bulletin n’est " +
        "pas une preuve sur vous. Pour l’ensemble du groupe, un calcul retire ensuite l’effet " +
        "du hasard.",
      weakWrong:
        "Oui, par hasard, cela peut arriver. Pour l’ensemble du groupe, un calcul retire " +
        "ensuite l’effet du hasard.",
    },

    unprotected: {
      title: "Ce qui n’est pas protégé",
      part: "Votre participation.",
      partText:
        "Une personne qui surveille votre réseau ou cet appareil, ou qui gère ce site, peut voir " +
        "que vous avez ouvert cette page.",
      device: "Ce que l’on voit sur cet appareil.",
      deviceText:
        "Si d’autres personnes le gèrent, ou regardent par-dessus votre épaule, elles peuvent " +
        "voir ce que vous choisissez.",
      belief: "Ce que quelqu’un croit déjà savoir de vous.",
      beliefText:
        "Les chiffres ci-dessus valent pour une personne qui part de 50 chances sur 100. Une " +
        "personne presque sûre avant peut l’être encore après.",
      others: "Les bulletins des autres.",
      othersText:
        "Toute personne qui a l’adresse peut participer, même plusieurs fois. Les résultats " +
        "ne sont donc pas à l’abri de qui falsifie des bulletins. Vos propres réponses " +
        "restent protégées.",
      page: "Une page falsifiée.",
      pageText:
        "Vous faites confiance au programme que ce site vous a envoyé. La partie qui travaille " +
        "avec le hasard est un seul fichier, très court. Tout le monde peut le lire, et ce " +
        "navigateur peut le tester pour vous.",
      read: "Lire ce fichier",
      verify: "Tester ce fichier",
    },

    detail: {
      title: "Les probabilités en détail",
      together:
        "Toutes vos réponses ensemble : une personne qui part de 50 chances sur 100 peut " +
        "ensuite avoir raison dans {sure} cas sur 100.",
      sensitive:
        "Sans les réponses sur votre situation, ou si quelqu’un les connaît déjà : dans {sure} " +
        "cas sur 100.",
      alone:
        "Une question à choix unique, prise seule : sur 100 réponses, {kept} restent telles " +
        "qu’elles ont été données. Le hasard remplace chacune des autres par une réponse " +
        "différente.",
      others:
        "Si vos réponses sont liées entre elles, ou si quelqu’un en connaît certaines, la seule " +
        "limite qui vaut est le premier chiffre.",
      design:
        "Les questions et les probabilités ont été fixées à l’ouverture de ce questionnaire. " +
        "Voici leur empreinte numérique. Elle est la même pour toutes les personnes " +
        "interrogées.",
      page: "Lire toutes les questions et probabilités",
    },

    ledger: "La liste de vos questionnaires",
  },

  practice: {
    progress: "Essai",
    note: "Ici, rien n’est envoyé et rien n’est conservé.",
    question: "Aimez-vous les jours de pluie ?",
    given: "Vous avez choisi « {answer} ». Le hasard a fait 100 essais :",
    others: "Si une personne choisit « {answer} », 100 essais donnent, par exemple :",
    tries: "Sur 100 bulletins : « oui » {yes} fois, « non » {no} fois.",
    picture:
      "Un carré de 100 points pour 100 bulletins. Pleins : « oui », {yes} fois. Vides : " +
      "« non », {no} fois.",
    yes: "un bulletin qui dit « oui »",
    no: "un bulletin qui dit « non »",
    lesson:
      "Un seul bulletin est envoyé, jamais plus. Un « oui » peut venir de l’une ou de l’autre " +
      "personne, un « non » aussi. Un bulletin isolé n’est donc jamais une preuve.",
    weakLesson:
      "Un seul bulletin est envoyé, jamais plus, et dans ce questionnaire il montre le plus " +
      "souvent ce qui a été choisi.",
    start: "Commencer le questionnaire",
  },

  /* Where people are invited: the code, and what it tells of them. */
  invited: {
    text:
      "Ce questionnaire est sur invitation. Votre code est dans le lien ou sur la feuille que " +
      "vous avez reçus.",
    asks: "Qui demande :",
    label: "Votre code, ou le lien entier",
    hint: "16 lettres et chiffres. Les tirets et les minuscules n’ont pas d’importance.",
    next: "Continuer",
    malformed: "Ce code n’est pas complet. Il a 16 lettres et chiffres.",
    mistyped:
      "Il y a une faute de frappe dans ce code. Comparez-le, lettre par lettre, avec votre " +
      "invitation.",
    brokenLink:
      "Ce lien n’est pas complet. Ouvrez ou copiez de nouveau le lien entier de votre " +
      "invitation, ou tapez le code qu’il contient.",
    unknown:
      "Le site ne connaît pas ce code. Vérifiez-le. Si vous avez reçu un rappel, prenez le " +
      "code le plus récent.",
    fetching: "Votre laissez-passer arrive…",
    used: {
      title: "Ce code a déjà servi",
      texts: [
        "Un laissez-passer a déjà été obtenu avec lui : sur un autre appareil, dans un autre " +
          "navigateur ou par quelqu’un d’autre.",
        "Si c’était vous, retournez à cet appareil et à ce navigateur. Si vous y avez envoyé " +
          "votre bulletin, merci. Sinon, demandez un nouveau code à la personne qui vous " +
          "invite.",
      ],
      contact: "Questions à :",
      another: "Taper un autre code",
    },
    known: {
      title: "Ce que dit votre invitation",
      can:
        "Quand vous touchez le bouton pour commencer, votre code est échangé contre un " +
        "laissez-passer. On peut savoir que votre invitation a servi à cela.",
      cannot:
        "On ne peut pas relier cela à votre bulletin. Le site signe votre laissez-passer " +
        "sans le voir, et celui-ci montre seulement que le bulletin vient d’une personne " +
        "invitée.",
      network:
        "Qui observe le réseau de ce site à ce moment-là pourrait le deviner d’après l’heure. " +
        "Rien de ce qui est conservé une fois votre bulletin compté ne le dit.",
      same:
        "Tous les liens de cette enquête se terminent par {end}. Si le vôtre, ou celui d’une " +
        "autre personne, se termine autrement, ne répondez pas.",
    },
  },

  asking: {
    progress: "Question {at} sur {of}",
    aboutYou: "Votre situation",
    note:
      "Le hasard peut changer votre réponse avant qu’elle quitte cet appareil. Ici, sur 100 " +
      "réponses, {kept} restent telles qu’elles ont été données.",
    choose: "Choisissez une réponse…",
    missing: "Pour continuer, veuillez choisir une des réponses.",
    back: "Retour",
    next: "Suivant",
    done: "Terminé",
    rounded:
      "Avant que votre nombre quitte cet appareil, le hasard l’arrondit à l’une de {count} " +
      "valeurs, de {least} à {most}, et peut aussi changer cette valeur : sur 100, {kept} " +
      "restent telles quelles.",
    picked:
      "Votre appareil envoie, au hasard, une seule option ou aucune. Ici, une option que vous " +
      "cochez est envoyée dans {picked} cas sur 100, une option que vous ne cochez pas dans " +
      "{other}.",
    range: "Veuillez saisir un nombre entier de {least} à {most}.",
    less: "Moins",
    more: "Plus",
    picks: "Choix possibles : {picks} au plus, ou aucun.",
    tooMany:
      "Vous pouvez en cocher {picks} au plus. Pour en cocher une autre, décochez-en d’abord " +
      "une.",
    none: "Aucune",
    filler:
      "Une question neutre, pour que le temps passé ne révèle pas combien de questions vous " +
      "ont été posées. Votre réponse n’est pas conservée.",
    fillers: [
      "Préférez-vous le thé au café ?",
      "Préférez-vous la mer à la montagne ?",
      "Vous levez-vous tôt le week-end ?",
      "Aimez-vous cuisiner ?",
      "Préférez-vous l’été à l’hiver ?",
      "Aimez-vous regarder le football ?",
    ],
  },

  review: {
    progress: "Dernière étape",
    title: "Vérifier et envoyer",
    lead:
      "À l’envoi, le hasard agit d’abord sur vos réponses. Ensuite, cette page les oublie, et " +
      "seul le bulletin quitte cet appareil.",
    answers: "Le hasard peut changer ces réponses",
    aboutYou: "Votre situation : le hasard peut aussi changer ces réponses",
    change: "Modifier",
    changeNamed: "Modifier : {question}",
    send: "Envoyer",
  },

  sending: {
    title: "Envoi de votre bulletin…",
    text: "Cela prend un instant.",
    work: "Cet appareil fait d’abord un petit calcul, qui ralentit les faux bulletins.",
  },

  waiting: {
    title: "Votre bulletin n’est pas encore arrivé",
    offline: "Cet appareil est hors ligne.",
    busy: "Le site est très sollicité en ce moment.",
    trouble: "Le site a un problème en ce moment.",
    silent: "Le site n’a pas réagi.",
    safe:
      "Rien n’est perdu. Le hasard a fait son travail, et le même bulletin sera envoyé de nouveau.",
    kept:
      "Seul le bulletin attend sur cet appareil. Il partira tout seul quand la connexion sera " +
      "revenue. Vous pouvez fermer cette page. Il partira alors quand vous ouvrirez de nouveau " +
      "ce site.",
    unkept:
      "Veuillez garder cette page ouverte. Le bulletin partira tout seul quand la connexion " +
      "sera revenue.",
    again: "Réessayer maintenant",
    drop: "Supprimer plutôt le bulletin",
    see: "Voir ce qui sera envoyé",
  },

  thanks: {
    title: "Merci. Votre bulletin est bien arrivé.",
    text: "Vous pouvez maintenant fermer cette page.",
    once:
      "Veuillez ne répondre qu’une fois. Avec un second bulletin, vous compteriez deux fois, et " +
      "il en dirait nettement plus sur vous.",
    resumed: "Un bulletin qui attendait sur cet appareil est arrivé.",
    receipt: "Reçu",
    receiptText: "C’est le numéro de votre bulletin. Vous n’avez pas besoin de le garder.",
    see: "Voir ce qui a été envoyé",
  },

  sent: {
    title: "Le bulletin auquel le hasard a pris part",
    text:
      "Voici les octets exacts. Les nombres sous « blocks » sont des places dans les listes " +
      "de réponses, ou des échelons d’un nombre, à partir de 0 ; null veut dire sans réponse. " +
      "Dans chaque bloc, ils sont tous vos réponses ou viennent tous du hasard.",
    pass:
      "Sous « pass » se trouve votre laissez-passer. Il montre que vous êtes une personne " +
      "invitée, et non qui vous êtes.",
    work: "Sous « work » se trouve le résultat du calcul qui ralentit les faux bulletins.",
    length:
      "Grâce à des espaces à la fin, tous les bulletins de ce questionnaire ont la même longueur.",
  },

  /* This browser has answered already: in this tab before a reload, or in another tab. */
  answered: {
    title: "Vous avez envoyé votre bulletin",
    text: "Ce questionnaire a été rempli ici il y a un instant. Il n’y a plus rien à faire.",
    once:
      "Avec un second bulletin, vous compteriez deux fois, et il en dirait nettement plus sur " +
      "vous.",
    other: "Une autre personne veut répondre",
  },

  kiosk: {
    idle: "Êtes-vous toujours là ?",
    idleText:
      "Dans {count} secondes, cette page oublie vos réponses et recommence.",
    stay: "Je suis toujours là",
    waits: "Merci. Votre bulletin est en route.",
    waitsText: "Seul le bulletin attend sur cet appareil. Il partira tout seul.",
    finish: "Terminé",
    finishText: "Cette page recommence toute seule pour la personne suivante.",
  },

  ledger: {
    offer: "Tenir une liste de vos questionnaires ?",
    offerText:
      "Chaque questionnaire en dit un peu plus sur vous, et cela s’additionne. Une liste sur cet " +
      "appareil peut en tenir le compte. Elle contient le nom du questionnaire, le jour et la " +
      "part de vie privée cédée ; jamais une réponse, jamais un bulletin. Toute personne qui " +
      "peut ouvrir ce navigateur peut la lire.",
    keep: "Commencer la liste avec ce questionnaire",
    added: "Ce questionnaire est sur votre liste.",
    open: "Voir ma liste",
    title: "La liste de vos questionnaires",
    text:
      "Cette liste est seulement sur cet appareil. Elle n’est jamais envoyée. Le chiffre ε " +
      "indique la part de vie privée cédée à un questionnaire.",
    survey: "Questionnaire",
    day: "Jour",
    total: "Total",
    sure:
      "Supposons que quelqu’un voie tous ces bulletins et parte de 50 chances sur 100. S’ils " +
      "portent tous sur une même réponse, cette personne peut ensuite avoir raison dans {sure} " +
      "cas sur 100.",
    empty: "La liste est vide.",
    remove: "Retirer : {survey}",
    stop: "Supprimer la liste et ne plus la tenir",
  },

  /* Pages instead of the survey. `again` is the text of a button that starts over. */
  problems: {
    missing: {
      title: "Il n’y a pas de questionnaire ici",
      texts: [
        "Vérifiez l’adresse : il manque peut-être une lettre. Il se peut aussi que le " +
          "questionnaire ne soit pas encore ouvert.",
        "Si l’adresse vient d’un message, demandez à la personne qui l’a envoyé. Rien n’a été " +
          "envoyé depuis cet appareil.",
      ],
    },
    closed: {
      title: "Ce questionnaire est fermé",
      texts: [
        "Il n’accepte plus de bulletins. Merci d’avoir voulu participer.",
        "Rien n’a été envoyé depuis cet appareil.",
      ],
    },
    offline: {
      title: "Le questionnaire n’a pas pu être chargé",
      texts: [
        "Votre appareil est peut-être hors ligne, ou le site a un problème.",
        "Rien n’a été envoyé. Vérifiez votre connexion et réessayez.",
      ],
      again: "Réessayer",
    },
    outdated: {
      title: "Cette page ne peut pas présenter ce questionnaire",
      texts: [
        "Le questionnaire ne convient pas à cette page, ou ses probabilités ne sont pas celles " +
          "qu’il annonce. La page s’arrête donc ici. Rien n’a été envoyé.",
        "Rechargez la page. Si cela ne suffit pas, prévenez la personne qui vous a donné " +
          "l’adresse.",
      ],
      again: "Recharger",
    },
    generator: {
      title: "Ce navigateur ne peut pas protéger vos réponses",
      texts: [
        "Il n’a pas de source de hasard sûre. Sans elle, cette page n’envoie rien.",
        "Veuillez utiliser une version récente de Chrome, Edge, Firefox ou Safari.",
      ],
    },
    broken: {
      title: "Un problème est survenu sur cette page",
      texts: [
        "La page s’est arrêtée et a oublié vos réponses.",
        "Si vous n’aviez pas encore choisi « Envoyer », rien n’a été envoyé, et vous pouvez " +
          "recommencer.",
      ],
      again: "Recommencer",
    },
    changed: {
      title: "Le site n’a pas utilisé votre bulletin",
      texts: [
        "Il indique que le questionnaire n’est plus celui que cette page a chargé, et qu’il " +
          "n’a pas enregistré votre bulletin.",
        "Veuillez ne pas répondre de nouveau : un second bulletin en dirait nettement plus sur " +
          "vous. Prévenez la personne qui vous a donné l’adresse.",
      ],
    },
    closedMeanwhile: {
      title: "Le questionnaire n’est plus ouvert",
      texts: [
        "Votre bulletin est arrivé trop tard et n’a pas été enregistré. Rien d’autre que le " +
          "bulletin n’a quitté cet appareil.",
        "Merci pour votre temps.",
      ],
    },
    refused: {
      title: "Le site n’a pas accepté votre bulletin",
      texts: [
        "Il n’a pas été enregistré. Rien d’autre que lui n’a quitté cet appareil.",
        "C’est un défaut du site. Veuillez prévenir la personne qui vous a donné l’adresse.",
      ],
    },
    dropped: {
      title: "Votre bulletin a été supprimé",
      texts: [
        "Il ne sera plus envoyé depuis cet appareil.",
        "S’il était déjà arrivé sur le site, il y reste. Un second en dirait nettement plus " +
          "sur vous.",
      ],
    },
    otherDesign: {
      title: "Ce n’est pas le questionnaire de votre invitation",
      texts: [
        "Votre invitation nomme une autre version de ce questionnaire que celle que montre " +
          "le site. Cela ne devrait jamais arriver, donc la page s’arrête ici. Rien n’a été " +
          "envoyé.",
        "Ne répondez pas, s’il vous plaît. Dites-le à la personne qui vous invite.",
      ],
    },
    noPass: {
      title: "Votre laissez-passer n’a pas pu être obtenu",
      texts: [
        "Le site n’a pas répondu, ou il est trop occupé. Votre code n’est pas perdu : le " +
          "même laissez-passer peut être obtenu encore une fois.",
        "Vérifiez votre connexion et réessayez.",
      ],
      again: "Réessayer",
    },
    badPass: {
      title: "Le site n’a pas donné un bon laissez-passer",
      texts: [
        "Sa signature n’est pas celle de ce questionnaire. Un tel laissez-passer pourrait " +
          "dire qui vous êtes, donc la page s’arrête ici. Aucune réponse n’a été envoyée.",
        "Ne répondez pas, s’il vous plaît. Dites-le à la personne qui vous invite.",
      ],
    },
  },
};
