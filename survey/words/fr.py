"""French texts of the server's public pages and of invitations. See docs/translating.md."""

TEXTS = {
    "page": {
        "skip": "Aller au contenu",
        "languages": "Langue",
        "surveys": "Aller à vos enquêtes",
    },
    "protection": {
        "title": "Comment les réponses sont protégées",
        "change": "Votre téléphone ou ordinateur change parfois vos réponses au hasard avant de "
        "les envoyer.",
        "nobody": "Une personne qui voit ce que vous envoyez ne peut pas être sûre de ce que vous "
        "avez répondu.",
        "grades": {
            "hardly": "Elle ne peut presque rien en déduire.",
            "guess": "Elle peut le supposer, mais pas en être sûre.",
            "nearly": "Mais elle peut en être presque sûre : cette protection est faible.",
        },
        "background": "Cela vaut pour les questions sensibles. Les questions sur vous ont leurs "
        "propres chiffres.",
        "odds": "Une personne qui hésite à 50:50 sur une de vos réponses aurait raison {sure} "
        "après avoir vu votre bulletin.",
        "odds_without_background": "Une personne qui hésite à 50:50 sur une de vos réponses aurait "
        "raison {sure} après avoir vu votre bulletin sans les réponses sur vous.",
        "at_most": "au plus environ {count} fois sur 100",
        "above": "plus de 99 fois sur 100",
    },
    "access": {
        "invited": "Seules les personnes invitées peuvent répondre, une fois chacune : chaque "
        "bulletin demande un laissez-passer, qui ne sert qu’une fois. Rien de ce qui est "
        "enregistré ne relie un laissez-passer à une invitation.",
        "open": "Toute personne qui a l’adresse peut envoyer des bulletins, même plusieurs. Cette "
        "enquête n’est donc pas à l’abri des manipulations.",
        "work": "Un calcul préalable ralentit l’envoi de nombreux faux bulletins, sans l’empêcher.",
        "forged": "Chaque fois que 1 bulletin sur 100 est faux, une estimation peut se déplacer de "
        "{points} points de pourcentage au plus.",
    },
    "results": {
        "title": "{title} : résultats",
        "asked_by": "Responsable",
        "responses": "Réponses comptées",
        "still_open": "Chiffres du {date}. L’enquête est encore ouverte : ils peuvent changer.",
        "closed": "L’enquête est close. Ces résultats sont définitifs.",
        "share": "Environ {value} sur 100 (probablement de {low} à {high})",
        "share_low": "Probablement moins de {high} sur 100",
        "share_high": "Probablement plus de {low} sur 100",
        "mean": "Environ {value} (probablement de {low} à {high})",
        "mean_low": "Probablement moins de {high}",
        "mean_high": "Probablement plus de {low}",
        "too_few": "Trop peu de réponses pour en dire quelque chose",
        "average": "En moyenne",
        "average_picks": "Choix par personne, en moyenne",
        "several": "On pouvait choisir plusieurs réponses.",
        "concerned": "Parmi les personnes à qui cela a été demandé, parce qu’elles ont répondu "
        "{options} à {question} :",
        "probably": "« Probablement » veut dire : pour une enquête comme celle-ci, une telle "
        "fourchette est juste au moins 95 fois sur 100.",
        "removed": "On sait à quelle fréquence les réponses sont changées, mais pas lesquelles. "
        "Cet effet peut donc être retiré d’un grand nombre de bulletins pris ensemble, et les "
        "résultats sont des estimations.",
        "groups": "Résultats par groupe",
        "everybody": "Tout le monde",
        "researchers": "Pour la recherche (en anglais)",
        "nothing": "Il n’y a pas encore de résultats",
        "appear": {
            "one": "Les résultats paraissent dès que {count} personne a répondu.",
            "many": "Les résultats paraissent dès que {count} de personnes ont répondu.",
            "other": "Les résultats paraissent dès que {count} personnes ont répondu.",
        },
        "never": {
            "one": "Cette enquête s’est close avec moins de {count} réponse. C’est trop peu pour "
            "publier sans risque : rien n’est montré.",
            "many": "Cette enquête s’est close avec moins de {count} de réponses. C’est trop peu "
            "pour publier sans risque : rien n’est montré.",
            "other": "Cette enquête s’est close avec moins de {count} réponses. C’est trop peu "
            "pour publier sans risque : rien n’est montré.",
        },
        "design": "Comment fonctionne cette enquête",
    },
    "design": {
        "title": "{title} : conception",
        "kind": "Comment fonctionne cette enquête, fixé à son ouverture",
        "state": "État",
        "states": {"open": "Ouverte", "closed": "Close", "archived": "Archivée"},
        "opened": "Ouverte le",
        "ended": "Close le",
        "epsilon": "ε des réponses sensibles",
        "report_epsilon": "ε du bulletin entier",
        "who": "Responsable, et pourquoi",
        "asked_by": "Responsable",
        "purpose": "Pourquoi",
        "contact": "Questions à",
        "not_said": "Cette enquête ne le dit pas.",
        "deleted_on": "Tout ce qui concerne cette enquête est effacé le {date}.",
        "deleted_after": {
            "one": "Tout ce qui concerne cette enquête est effacé {count} jour après sa clôture.",
            "many": "Tout ce qui concerne cette enquête est effacé {count} de jours après sa "
            "clôture.",
            "other": "Tout ce qui concerne cette enquête est effacé {count} jours après sa "
            "clôture.",
        },
        "kept": "Les bulletins et les résultats ne sont pas effacés automatiquement.",
        "who_may": "Qui peut répondre",
        "ending": "Tous les liens vers elle se terminent par {end}. Si le vôtre se termine "
        "autrement, ne répondez pas.",
        "questions": "Les questions et le hasard",
        "asked_some": "Chaque personne ne reçoit qu’une partie des blocs de questions : {ask} sur "
        "{all}, tirée au sort sur son propre appareil.",
        "asked_all": "Tout le monde reçoit toutes les questions.",
        "block": "Bloc {key}",
        "background": "Questions sur vous",
        "background_text": "Tout le monde les reçoit. Ces réponses peuvent aussi être changées, "
        "chacune avec son propre ε. Si elles sont liées aux réponses sensibles, une personne qui "
        "ne les connaît pas peut en apprendre plus : seul le ε du bulletin entier limite cela.",
        "only_after": "Seulement après {options} à {question}.",
        "number": "Un nombre entier de {least} à {most}, que l’appareil arrondit au hasard à l’une "
        "de {count} valeurs.",
        "odds": "Si 100 personnes donnent la même réponse, environ {true} de leurs bulletins la "
        "contiennent, et environ {false} contiennent chacune des autres.",
        "odds_of_two": "Si 100 personnes donnent la même réponse, environ {true} de leurs "
        "bulletins la contiennent, et environ {false} contiennent l’autre.",
        "odds_of_picks": "On peut en choisir jusqu’à {picks}, et un bulletin en contient une ou "
        "aucune. Si 100 personnes choisissent une option, environ {true} de leurs bulletins la "
        "contiennent ; sinon, environ {false}.",
        "range": "{least} à {most}",
        "in_language": "Dans une autre langue : {language}",
        "check": "Vérifiez vous-même",
        "fingerprint": "Voici l’empreinte numérique de la conception. Elle est sur la page de "
        "l’enquête et dans chaque bulletin. Changer une lettre d’une question, d’une option, des "
        "chiffres ou de qui demande la changerait.",
        "download": "Télécharger la conception",
        "compute": "Calculez ensuite son SHA-256, par exemple ainsi :",
        "command": "La commande",
        "not_included": "Le titre et l’introduction sont fixés aussi, mais ne font pas partie de "
        "l’empreinte.",
        "test": "Tester le programme de hasard dans ce navigateur",
        "answer": "Répondre à l’enquête",
        "results": "Lire les résultats",
    },
    "errors": {
        "bad_request": {"title": "Cette demande n’est pas valide", "text": "Rien n’a été changé."},
        "forbidden": {
            "title": "Vous n’avez pas accès à cette page",
            "text": "Votre rôle ne le permet pas. Adressez-vous à la personne responsable de "
            "l’enquête ou à l’administration du site.",
        },
        "csrf": {
            "title": "Veuillez réessayer",
            "text": "Le formulaire est resté ouvert trop longtemps ou venait d’une autre page. "
            "Rien n’a été changé. Revenez en arrière, rechargez la page et renvoyez le formulaire.",
        },
        "not_found": {
            "title": "Page introuvable",
            "text": "Vérifiez l’adresse. La page a peut-être aussi été retirée.",
        },
        "server_error": {
            "title": "Une erreur s’est produite",
            "text": "Le problème vient de nous, et rien n’a été changé. Veuillez réessayer dans un "
            "instant.",
        },
        "too_often": {
            "title": "Trop de demandes",
            "text": {
                "one": "Veuillez attendre {count} seconde.",
                "many": "Veuillez attendre {count} de secondes.",
                "other": "Veuillez attendre {count} secondes.",
            },
        },
        "no_results": {
            "title": "Aucun résultat n’est public ici",
            "text": "L’adresse est peut-être fausse, ou les résultats n’ont pas été rendus "
            "publics.",
            "link": "Si vous menez cette enquête, ouvrez son tableau de bord",
        },
    },
    "shell": {
        "no_script": "Ce questionnaire a besoin de JavaScript",
        "no_script_text": "Il change des réponses au hasard sur cet appareil avant tout envoi. "
        "Autorisez-le pour cette page, puis rechargez-la. Rien n’a été envoyé.",
        "late": "Le questionnaire ne démarre pas",
        "late_text": "Rechargez la page, ou utilisez une version récente de Chrome, Edge, Firefox "
        "ou Safari. Rien n’a été envoyé.",
        "check_no_script": "Cette vérification a besoin de JavaScript",
        "check_late": "La vérification ne démarre pas",
    },
    "letter": {
        "subject": "Votre invitation à une enquête",
        "subject_again": "Rappel : votre invitation à une enquête",
        "hello": "Bonjour,",
        "invited": "vous êtes invité·e à participer à une enquête : « {title} ».",
        "again": "nous vous rappelons une enquête : « {title} ». Le lien reçu auparavant ne marche "
        "plus ; celui-ci marche.",
        "asked_by": "Responsable",
        "purpose": "Pourquoi",
        "contact": "Questions à",
        "once": "Le lien est pour vous seul·e et ne sert qu’une fois.",
        "stored": "On peut voir que votre invitation a servi, mais pas quel bulletin est le vôtre.",
        "nothing": "Si vous ne voulez pas participer, ne faites rien.",
        "scan": "Scannez l’image, ou ouvrez",
        "type": "et tapez",
        "card": "Pour une personne, une fois. On peut voir que ce code a servi, mais pas quel "
        "bulletin est le vôtre.",
    },
}
