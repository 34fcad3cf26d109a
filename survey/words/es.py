"""Spanish texts of the server's public pages and of invitations. See docs/translating.md."""

TEXTS = {
    "page": {
        "skip": "Ir al contenido",
        "languages": "Idioma",
        "surveys": "Ir a sus encuestas",
    },
    "protection": {
        "title": "Cómo se protegen las respuestas",
        "change": "Su teléfono u ordenador a veces cambia sus respuestas al azar antes de "
        "enviarlas.",
        "nobody": "Nadie que vea lo que usted envía puede estar seguro de lo que respondió.",
        "grades": {
            "hardly": "Apenas se puede deducir.",
            "guess": "Se puede suponer, pero no saber con seguridad.",
            "nearly": "Pero se puede estar casi seguro: esta protección es débil.",
        },
        "background": "Esto vale para las preguntas delicadas. Las preguntas sobre usted tienen "
        "sus propias cifras.",
        "odds": "Quien piense que es igual de probable que usted haya dado cierta respuesta o no, "
        "con su informe acertaría {sure}.",
        "odds_without_background": "Quien piense que es igual de probable que usted haya dado "
        "cierta respuesta o no, con su informe sin las respuestas sobre usted acertaría {sure}.",
        "at_most": "como máximo unas {count} de cada 100 veces",
        "above": "más de 99 de cada 100 veces",
    },
    "access": {
        "invited": "Solo pueden responder las personas invitadas, una vez cada una: cada informe "
        "necesita un pase, y cada pase sirve una vez. Nada de lo que se guarda relaciona un pase "
        "con una invitación.",
        "open": "Cualquiera que tenga la dirección puede enviar informes, incluso varios, así que "
        "esta encuesta no está a salvo de manipulaciones.",
        "work": "Un cálculo previo hace más lentos muchos informes falsos, pero no los impide.",
        "forged": "Por cada 1 de cada 100 informes que sea falso, una estimación puede moverse "
        "hasta {points} puntos porcentuales.",
    },
    "results": {
        "title": "{title}: resultados",
        "asked_by": "Quién preguntó",
        "responses": "Respuestas contadas",
        "still_open": "Datos del {date}. La encuesta sigue abierta, así que pueden cambiar.",
        "closed": "La encuesta ha terminado. Estos son sus resultados definitivos.",
        "share": "Unas {value} de cada 100 personas (probablemente, de {low} a {high})",
        "share_low": "Probablemente menos de {high} de cada 100 personas",
        "share_high": "Probablemente más de {low} de cada 100 personas",
        "mean": "Aproximadamente {value} (probablemente de {low} a {high})",
        "mean_low": "Probablemente menos de {high}",
        "mean_high": "Probablemente más de {low}",
        "too_few": "Hay muy pocas respuestas para decir algo",
        "average": "De media",
        "average_picks": "Opciones elegidas por persona, de media",
        "several": "Se podía elegir más de una.",
        "concerned": "Entre quienes recibieron esta pregunta, porque respondieron {options} a "
        "{question}:",
        "probably": "«Probablemente» significa que, en una encuesta como esta, un intervalo así "
        "acierta al menos 95 de cada 100 veces.",
        "removed": "Se sabe con qué frecuencia se cambian las respuestas, pero no cuáles. Por eso "
        "el efecto se puede descontar en el conjunto de muchos informes, y los resultados son "
        "estimaciones.",
        "groups": "Resultados por grupos",
        "everybody": "Todas las personas",
        "researchers": "Para la investigación (en inglés)",
        "nothing": "Todavía no hay resultados",
        "appear": {
            "one": "Los resultados aparecen cuando ha respondido {count} persona.",
            "many": "Los resultados aparecen cuando han respondido {count} de personas.",
            "other": "Los resultados aparecen cuando han respondido {count} personas.",
        },
        "never": {
            "one": "Esta encuesta terminó con menos de {count} respuesta. Es muy poco para "
            "publicar algo con seguridad, así que no se muestra nada.",
            "many": "Esta encuesta terminó con menos de {count} de respuestas. Son muy pocas para "
            "publicar algo con seguridad, así que no se muestra nada.",
            "other": "Esta encuesta terminó con menos de {count} respuestas. Son muy pocas para "
            "publicar algo con seguridad, así que no se muestra nada.",
        },
        "design": "Cómo funciona esta encuesta",
    },
    "design": {
        "title": "{title}: diseño",
        "kind": "Cómo funciona esta encuesta, fijado cuando se abrió",
        "state": "Estado",
        "states": {"open": "Abierta", "closed": "Cerrada", "archived": "Archivada"},
        "opened": "Abierta el",
        "ended": "Cerrada el",
        "epsilon": "ε de las respuestas delicadas",
        "report_epsilon": "ε de todo el informe",
        "who": "Quién pregunta y para qué",
        "asked_by": "Quién pregunta",
        "purpose": "Para qué",
        "contact": "Preguntas a",
        "not_said": "Esta encuesta no lo dice.",
        "deleted_on": "Todo lo de esta encuesta se borra el {date}.",
        "deleted_after": {
            "one": "Todo lo de esta encuesta se borra {count} día después de su cierre.",
            "many": "Todo lo de esta encuesta se borra {count} de días después de su cierre.",
            "other": "Todo lo de esta encuesta se borra {count} días después de su cierre.",
        },
        "kept": "Los informes y los resultados no se borran automáticamente.",
        "who_may": "Quién puede responder",
        "ending": "Todos los enlaces a ella terminan en {end}. Si el suyo no termina así, no "
        "responda.",
        "questions": "Las preguntas y el azar",
        "asked_some": "Cada persona recibe solo una parte de los bloques de preguntas: {ask} de "
        "{all}, elegidos al azar en su propio dispositivo.",
        "asked_all": "Todas las personas reciben todas las preguntas.",
        "block": "Bloque {key}",
        "background": "Preguntas sobre usted",
        "background_text": "Las reciben todas las personas. Estas respuestas también pueden "
        "cambiarse, cada una con su propio ε. Si están relacionadas con las delicadas, quien no "
        "las conozca puede averiguar más: solo lo limita el ε de todo el informe.",
        "only_after": "Solo después de responder {options} a {question}.",
        "number": "Un número entero de {least} a {most}, que el dispositivo redondea al azar a uno "
        "de {count} valores.",
        "odds": "Si 100 personas dan la misma respuesta, aparece en unos {true} de sus informes, y "
        "cada una de las otras en unos {false}.",
        "odds_of_two": "Si 100 personas dan la misma respuesta, aparece en unos {true} de sus "
        "informes, y la otra en unos {false}.",
        "odds_of_picks": "Se pueden elegir hasta {picks}, y un informe dice una de ellas o "
        "ninguna. Si 100 personas eligen una opción, aparece en unos {true} de sus informes; si "
        "no la eligen, en unos {false}.",
        "range": "{least} a {most}",
        "in_language": "En otro idioma: {language}",
        "check": "Compruébelo",
        "fingerprint": "Esta es la huella digital del diseño. Está en la página de la encuesta y "
        "en cada informe. Cambiaría si se modificara una letra de una pregunta, de una opción, de "
        "las cifras o de quién pregunta.",
        "download": "Descargar el diseño",
        "compute": "Calcule después su SHA-256, por ejemplo así:",
        "command": "La orden",
        "not_included": "El título y la introducción también quedan fijados, pero no forman parte "
        "de la huella.",
        "test": "Comprobar el programa de azar en este navegador",
        "answer": "Responder la encuesta",
        "results": "Leer los resultados",
    },
    "errors": {
        "bad_request": {"title": "Esta petición no es válida", "text": "No se ha cambiado nada."},
        "forbidden": {
            "title": "No tiene acceso a esta página",
            "text": "Su función no lo permite. Consulte a quien lleva la encuesta o a la "
            "administración del sitio.",
        },
        "csrf": {
            "title": "Inténtelo otra vez",
            "text": "El formulario estuvo abierto demasiado tiempo o venía de otra página. No se "
            "ha cambiado nada. Vuelva atrás, recargue la página y envíe el formulario de nuevo.",
        },
        "not_found": {
            "title": "Página no encontrada",
            "text": "Compruebe la dirección. También es posible que se haya retirado la página.",
        },
        "server_error": {
            "title": "Algo ha fallado",
            "text": "El problema es nuestro y no se ha cambiado nada. Inténtelo otra vez dentro de "
            "un momento.",
        },
        "too_often": {
            "title": "Demasiadas peticiones",
            "text": {
                "one": "Espere {count} segundo.",
                "many": "Espere {count} de segundos.",
                "other": "Espere {count} segundos.",
            },
        },
        "no_results": {
            "title": "Aquí no hay resultados públicos",
            "text": "Puede que la dirección no sea correcta o que los resultados no se hayan hecho "
            "públicos.",
            "link": "Si usted lleva esta encuesta, abra su panel",
        },
    },
    "shell": {
        "no_script": "Esta encuesta necesita JavaScript",
        "no_script_text": "Cambia respuestas al azar en este dispositivo antes de enviar nada. "
        "Permítalo en esta página y recárguela. No se ha enviado nada.",
        "late": "La encuesta no arranca",
        "late_text": "Recargue la página o use una versión actual de Chrome, Edge, Firefox o "
        "Safari. No se ha enviado nada.",
        "check_no_script": "Esta comprobación necesita JavaScript",
        "check_late": "La comprobación no arranca",
    },
    "letter": {
        "subject": "Su invitación a una encuesta",
        "subject_again": "Recordatorio: su invitación a una encuesta",
        "hello": "Hola:",
        "invited": "Se le invita a participar en una encuesta: «{title}».",
        "again": "Le recordamos una encuesta: «{title}». El enlace anterior ya no sirve; este sí.",
        "asked_by": "Quién pregunta",
        "purpose": "Para qué",
        "contact": "Preguntas a",
        "once": "El enlace es solo para usted y sirve una vez.",
        "stored": "Se puede ver que su invitación se usó, pero no qué informe es el suyo.",
        "nothing": "Si no quiere participar, no haga nada.",
        "scan": "Escanee la imagen o abra",
        "type": "y escriba",
        "card": "Para una persona, una vez. Se puede ver que este código se usó, pero no qué "
        "informe es el suyo.",
    },
}
