/*
 * Every text of the respondent's page: Spanish. docs/translating.md says how to write one.
 *
 * Plain data: {names} in braces are filled in by words.js, and an object whose keys are plural
 * categories is chosen by its {count}.
 */

export default {
  direction: "ltr",

  title: "Encuesta",
  language: "Idioma",
  loading: "Cargando la encuesta…",
  untranslated: "Partes de esta página están en {language}.",
  testing: "Prueba. No se guarda nada de lo que responda aquí.",
  yes: "Sí",
  no: "No",

  share: {
    above: "más de {count}",
    below: "menos de {count}",
    about: "unas {count}",
    atMost: "como máximo {count}",
    range: "{least} a {most}",
  },

  opening: {
    who: "Quién pregunta:",
    more: "Leer más",
    all: { one: "{count} pregunta", many: "{count} de preguntas", other: "{count} preguntas" },
    quick: "{questions}, menos de un minuto.",
    longer: "{questions}, menos de {minutes} min.",
    once: "Por favor, responda una sola vez.",
    reloaded:
      "Esta página se ha vuelto a cargar. Las respuestas nunca se guardan; responda de nuevo, por " +
      "favor.",
    promise: "A veces, su dispositivo cambia sus respuestas al azar antes de enviarlas.",
    so:
      "Nadie que vea lo que envía puede estar seguro de lo que respondió: ni quienes preguntan, " +
      "ni nosotros, ni un tribunal.",
    hardly: "Apenas podrán saberlo.",
    guess: "Podrán suponerlo, nada más.",
    nearly:
      "Pero la protección es débil: alguien podría acertar {sure} de cada 100 veces. Participe " +
      "solo si también respondería sin ella.",
    less: "Los datos sobre usted están menos protegidos: {sure} de cada 100.",
    managed: "Quien administre este dispositivo puede ver lo que usted pulsa.",
    invited: "Se puede ver que su invitación se usó, pero no qué informe es el suyo.",
    start: "Empezar",
    how: "Cómo funciona (10 segundos)",
  },

  odds: {
    title: "¿Cuán seguro se puede estar?",
    short: "{sure} de 100",
    say:
      "Supongamos que para alguien hay 50 posibilidades de 100 de que usted haya dado cierta " +
      "respuesta. Después de ver su informe, acertaría:",
    answers: "Lo que usted respondió",
    you: "Cada dato sobre usted",
    together: "Todo, si sus respuestas están relacionadas",
    times: "{sure} de cada 100 veces",
    either: "Un sí puede venir de cualquiera",
    ofYes: "100 personas cuya respuesta es sí: {yes} envían sí, {no} envían no.",
    ofNo: "100 personas cuya respuesta es no: {yes} envían sí, {no} envían no.",
    filled: "envía sí",
    empty: "envía no",
    changed: "cambiado al azar",
    wrong:
      "¿Puede decir su informe algo que usted no eligió? Sí, como el de cualquiera; por eso no " +
      "prueba nada. En los resultados del grupo, ese efecto se descuenta.",
  },

  practice: {
    note: "Práctica. No se envía nada.",
    question: "¿Le gustan los días de lluvia?",
    said: "Usted respondió: {answer}. Esta vez su dispositivo enviaría: {report}.",
    again: "Otra vez",
    tally: "Hasta ahora: {yes} × sí, {no} × no.",
  },

  unprotected: {
    title: "Qué no está protegido",
    part: "Que usted participa. Su red y este sitio pueden ver que abrió esta página.",
    belief: "Lo que alguien ya cree sobre usted.",
    others: "Los resultados, si alguien envía informes falsos. Sus respuestas siguen protegidas.",
    page: "Sus respuestas, si alguien ha manipulado esta página. Puede comprobarla.",
    invited:
      "Que se usó su invitación. El sitio firma su pase sin verlo: solo la hora podría " +
      "relacionarlo con su informe.",
  },

  contact: {
    title: "Contacto y borrado",
    asked_by: "Quién",
    purpose: "Por qué",
    contact: "Contacto",
    kept: "Borrado",
    deleted: {
      one: "{count} día después del cierre de la encuesta",
      many: "{count} de días después del cierre de la encuesta",
      other: "{count} días después del cierre de la encuesta",
    },
  },

  check: {
    title: "Comprobar esta página",
    text: "Un archivo corto cambia sus respuestas al azar. Puede leerlo o ponerlo a prueba.",
    read: "Leer el archivo",
    verify: "Ponerlo a prueba",
    design: "La huella digital de las preguntas y las probabilidades es la misma para todos:",
    page: "Leer el diseño completo",
    same:
      "Todos los enlaces a esta encuesta terminan en {end}. Si el suyo termina de otra forma, no " +
      "responda.",
  },

  /* Where people are invited. */
  invited: {
    text: "Esta encuesta es por invitación. Su código está en el enlace o en la hoja que recibió.",
    label: "Su código o el enlace completo",
    hint: "16 letras y cifras. Los guiones y las minúsculas no importan.",
    next: "Seguir",
    malformed: "No es un código completo.",
    unknown:
      "El sitio no conoce este código. Si recibió un recordatorio, use el código más reciente.",
    fetching: "Obteniendo su pase…",
    mistyped: "Hay una errata en este código. Compárelo con su invitación.",
    brokenLink:
      "Este enlace no está completo. Cópielo otra vez, o escriba el código.",
    used: "Este código ya se usó",
    elsewhere:
      "Si lo usó en otro dispositivo o navegador, siga allí. Si no, pida un código nuevo a quien " +
      "le invitó.",
    another: "Escribir otro código",
  },

  asking: {
    progress: "Pregunta {at} de {of}",
    kept: "Protegida: {kept} de cada 100 quedan como se dieron.",
    how: "¿Cómo?",
    replaced:
      "Su dispositivo sustituye algunas respuestas al azar. Nadie más sabe cuáles. Por eso un " +
      "informe no prueba nada.",
    roundedKept: "Protegida: se redondea, y después {kept} de cada 100 quedan igual.",
    rounded:
      "Su dispositivo redondea el número al azar a uno de {count} valores, de {least} a {most}, y " +
      "sustituye algunos al azar.",
    picked:
      "Protegida: lo que marca se envía {picked} de cada 100 veces; lo demás, {other}.",
    one: "Su dispositivo envía, al azar, una sola opción o ninguna.",
    filler: "No se guarda. Oculta cuántas otras preguntas le hicieron.",
    missing: "Por favor, elija una respuesta.",
    back: "Atrás",
    next: "Siguiente",
    skip: "Omitir",
    done: "Listo",
    range: "Introduzca un número entero de {least} a {most}.",
    less: "Menos",
    more: "Más",
    picks: "Puede marcar {picks} como máximo, o ninguna.",
    none: "Ninguna",
    fillers: [
      "¿Prefiere el té al café?",
      "¿Prefiere el mar a la montaña?",
      "¿Se levanta temprano los fines de semana?",
    ],
  },

  review: {
    title: "Revisar y enviar",
    lead: "Su dispositivo altera ahora sus respuestas al azar, las olvida y envía un informe.",
    change: "Cambiar",
    send: "Enviar",
  },

  sending: {
    title: "Enviando su informe…",
    work: "Antes, un breve cálculo que frena a los falsificadores.",
  },

  waiting: {
    title: "Su informe todavía no ha llegado",
    offline: "Este dispositivo no tiene conexión.",
    busy: "El sitio está muy ocupado.",
    trouble: "El sitio tiene un problema.",
    kept: "El mismo informe se volverá a enviar por sí solo. Puede cerrar esta página.",
    unkept: "El mismo informe se volverá a enviar por sí solo. Por favor, no cierre esta página.",
    again: "Intentar de nuevo",
    drop: "Borrar el informe en vez de enviarlo",
    see: "Qué se enviará",
  },

  thanks: {
    title: "Gracias. Su informe ha llegado.",
    results: "Los resultados aparecen después de {count} respuestas.",
    page: "Página de resultados",
    unpublished: "Quienes preguntan ven resultados después de {count} respuestas.",
    once: "Con un segundo informe, usted contaría dos veces y revelaría más sobre sí.",
    resumed: "Ha llegado un informe que esperaba en este dispositivo.",
    see: "Qué se envió",
  },

  sent: {
    says: "Su informe dice:",
    chance: "Su dispositivo puede haber puesto cualquiera de estas cosas al azar.",
    number: "Su número:",
    text: "Los bytes exactos:",
    pass: "«pass» muestra que recibió una invitación, no quién es.",
  },

  /* This browser has answered already: in this tab before a reload, or in another tab. */
  answered: {
    title: "Usted ya envió su informe",
    other: "Otra persona quiere responder",
  },

  kiosk: {
    idle: "¿Sigue usted ahí?",
    idleText: "En {count} segundos, esta página olvidará sus respuestas y volverá a empezar.",
    stay: "Sigo aquí",
    waits: "Gracias. Su informe está en camino.",
  },

  ledger: {
    title: "Su lista de encuestas",
    offer:
      "Una lista en este dispositivo puede sumar lo que las encuestas revelan sobre usted: " +
      "título, día y privacidad gastada, nunca una respuesta. Quien use este navegador puede " +
      "leerla.",
    keep: "Empezar la lista con esta encuesta",
    text: "Solo en este dispositivo. ε es la privacidad gastada.",
    survey: "Encuesta",
    day: "Día",
    total: "Total",
    sure: "Sobre una misma respuesta, quien parte de 50 de 100 acertaría {sure} de cada 100 veces.",
    remove: "Quitar: {survey}",
    stop: "Borrar la lista",
  },

  /* Pages instead of the survey. */
  problems: {
    missing: {
      title: "Aquí no hay ninguna encuesta",
      text:
        "Revise la dirección. Puede que la encuesta aún no esté abierta. No se ha enviado " +
        "nada.",
    },
    closed: {
      title: "Esta encuesta está cerrada",
      text: "No se ha enviado nada. Gracias por querer participar.",
    },
    offline: {
      title: "No se pudo cargar la encuesta",
      text: "No se ha enviado nada. Revise la conexión e inténtelo de nuevo.",
    },
    outdated: {
      title: "Esta página no puede mostrar esta encuesta",
      text: "No se ha enviado nada. Avise a quien le dio la dirección.",
    },
    generator: {
      title: "Este navegador no puede proteger sus respuestas",
      text: "No se ha enviado nada. Use un navegador actual, por favor.",
    },
    broken: {
      title: "Algo ha fallado en esta página",
      text: "Sus respuestas se han olvidado. Si no había pulsado «Enviar», no se ha enviado nada.",
    },
    closedMeanwhile: {
      title: "La encuesta ya no está abierta",
      text: "Su informe llegó tarde y no se guardó.",
    },
    refused: {
      title: "El sitio no aceptó su informe",
      text:
        "Por favor, no responda de nuevo: un segundo informe revelaría más sobre usted. Avise a " +
        "quien le dio la dirección.",
    },
    dropped: {
      title: "Su informe se ha borrado",
      text: "Si ya había llegado al sitio, se queda allí.",
    },
    otherDesign: {
      title: "Esta no es la encuesta a la que se le invitó",
      text: "No se ha enviado nada. Por favor, no responda. Avise a quien le invitó.",
    },
    noPass: {
      title: "No se pudo obtener su pase",
      text: "Su código sigue siendo válido. Revise la conexión e inténtelo de nuevo.",
    },
    badPass: {
      title: "El sitio no dio un pase válido",
      text: "No se ha enviado ninguna respuesta. Por favor, no responda. Avise a quien le invitó.",
    },
  },
};
